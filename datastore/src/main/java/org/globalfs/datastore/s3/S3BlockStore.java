package org.globalfs.datastore.s3;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.datastore.client.CacheReader;
import org.globalfs.datastore.client.ChunkOrigin;
import org.globalfs.datastore.client.Fetched;
import org.globalfs.protocol.BlockIds;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.config.S3Upkeep;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The block store in one bucket a region. A block of a region is one object in its bucket, whose
 * service makes it durable. A block of all regions is coded, and its chunks are objects spread over
 * the buckets, so that the loss of any one of them costs nothing.
 *
 * <p>The epoch of a coded block's reference is the number of buckets, in the recorded order, that
 * it was spread over: later ones change nothing for it.
 *
 * <p>What is read of another region's blocks, and of those of all regions, is asked of the caches
 * of the own region first, if it was opened so ({@link #throughCaches}); what they do not have, or
 * not soon, comes from the buckets, the nearest ones if they have enough. Whether a block can be
 * read at all, and what is made anew, only the buckets say. For a cache it is itself where chunks
 * come from: a whole block is one chunk.
 *
 * <p>No request is larger than a block, less than the smallest part of an upload in parts.
 */
public final class S3BlockStore implements BlockStore, ChunkOrigin {
    private static final Logger LOG = LoggerFactory.getLogger(S3BlockStore.class);

    private static final int NO_REGION = -1;

    /** A chunk that has not come by then is read from others too. */
    static final long LATE_NS = TimeUnit.SECONDS.toNanos(1);

    /**
     * Limits of a store.
     *
     * @param requestTimeoutMs a connection that is silent for so long is given up
     * @param deadlineMs an operation takes at most this
     * @param attempts how often a request is sent before it fails
     * @param transfers requests to one bucket at once
     */
    public record Options(long requestTimeoutMs, long deadlineMs, int attempts, int transfers) {
        public static Options defaults() {
            return new Options(10_000, 30_000, 4, 64);
        }
    }

    private final Options options;
    private final BlockIds ids = new BlockIds();
    private final Transfers.Threads threads;
    private final Buckets buckets;
    private final @Nullable CacheReader caches;
    private final SpreadPut spread;
    private final BlockReader reader;
    private final ChunkFetch chunkFetch;

    /**
     * One that asks no cache.
     *
     * @param storage how to reach the recorded buckets, each of them
     */
    public S3BlockStore(String cluster, RecordedStore recorded, BlockStorage storage) {
        this(cluster, recorded, storage, Options.defaults());
    }

    public S3BlockStore(
            String cluster, RecordedStore recorded, BlockStorage storage, Options options) {
        this(cluster, recorded, storage, options, NO_REGION, null);
    }

    private S3BlockStore(
            String cluster,
            RecordedStore recorded,
            BlockStorage storage,
            Options options,
            int ownRegion,
            @Nullable CacheReader caches) {
        this.options = options;
        this.caches = caches;
        threads = new Transfers.Threads();
        buckets = new Buckets(cluster, recorded, storage, options);
        spread = new SpreadPut(buckets, threads, ids, this::takeBack);
        reader = new BlockReader(buckets, threads, options.deadlineMs(), ownRegion, caches);
        chunkFetch = new ChunkFetch(buckets, threads, options.requestTimeoutMs());
    }

    /**
     * One that reads blocks of other regions, and of all regions, through its region's caches.
     *
     * @param region where this process is
     * @param discovery says which caches there are
     */
    public static S3BlockStore throughCaches(
            String cluster,
            String region,
            RecordedStore recorded,
            BlockStorage storage,
            Discovery discovery) {
        return throughCaches(cluster, region, recorded, storage, discovery, Options.defaults());
    }

    /** The same, with other limits. */
    static S3BlockStore throughCaches(
            String cluster,
            String region,
            RecordedStore recorded,
            BlockStorage storage,
            Discovery discovery,
            Options options) {
        int own = recorded.bucket(region).map(RecordedStore.Bucket::partition).orElse(NO_REGION);
        return new S3BlockStore(
                cluster,
                recorded,
                storage,
                options,
                own,
                new CacheReader(cluster, region, discovery));
    }

    @Override
    public int putBytes() {
        return Spread.mostBytes(buckets.size(), MAX_BLOCK_BYTES);
    }

    @Override
    public BlockRef put(int region, ByteBuffer content) throws IOException {
        int length = BlockStore.checkedLength(content);
        long deadline = deadline();
        return region == 0
                ? spread.run(content, length, deadline)
                : putWhole(ids.next(), region, content, length, deadline);
    }

    private long deadline() {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.deadlineMs());
    }

    private BlockRef putWhole(
            BlockIds.Id id, int region, ByteBuffer content, int length, long deadline)
            throws IOException {
        Bucket bucket = buckets.of(region);
        byte[] bytes = new byte[length];
        content.get(content.position(), bytes);
        BlockRef ref =
                new BlockRef(
                        id.high(), id.low(), length, region, (byte) 1, (byte) 0, buckets.size());
        try (Transfers<Boolean> transfers = new Transfers<>(threads)) {
            transfers.start(0, bucket, () -> buckets.put(bucket, Piece.of(ref, 0), bytes, 0));
            var outcome = transfers.next(deadline);
            if (outcome == null) {
                throw late("writing", bucket);
            }
            if (outcome.failure() != null) {
                throw outcome.failure();
            }
        } catch (IOException e) {
            takeBack(ref);
            throw e;
        }
        return ref;
    }

    /** Not by the caller, who should not wait for buckets that do not answer. */
    private void takeBack(BlockRef ref) {
        Thread.startVirtualThread(() -> {
            try {
                if (deleteAll(List.of(ref)).isEmpty()) {
                    LOG.info("objects of {}, which was not written, may stay", ref);
                }
            } catch (IOException e) {
                LOG.info("objects of {} may stay: {}", ref, e.toString());
            }
        });
    }

    @Override
    public void get(BlockRef ref, int offset, byte[] into, int at, int length) throws IOException {
        BlockStore.checkRange(ref, offset, length);
        if (length > 0) {
            reader.read(ref, offset, into, at, length, true);
        }
    }

    /** What only a cache has is soon gone. */
    @Override
    public boolean isReadable(BlockRef block) throws IOException {
        try {
            reader.read(block, 0, new byte[block.getLength()], 0, block.getLength(), false);
            return true;
        } catch (BlockStoreException e) {
            if (e.reason() == Reason.LOST) {
                return false;
            }
            throw e;
        }
    }

    @Override
    public List<Integer> regions(BlockRef ref) {
        List<Integer> regions = new ArrayList<>();
        for (int c = 0; c < ref.getDataChunks() + ref.getParityChunks(); c++) {
            if (buckets.ofOrNull(ref, c) == null) {
                return List.of();
            }
            regions.add(buckets.partition(ref, c));
        }
        return regions;
    }

    @Override
    public Fetched fetch(BlockRef ref, long chunks) throws IOException {
        return chunkFetch.run(ref, chunks);
    }

    /**
     * Begins to look after what a partition has in buckets, while the owner leads.
     *
     * @param region the partition; 0: blocks of all regions
     */
    public BucketUpkeep lookAfter(int region, BlockOwner owner, S3Upkeep upkeep) {
        return lookAfter(region, owner, upkeep, BucketUpkeep.Times.DEFAULT, ref -> {});
    }

    /**
     * @param beforeWrite told of each block that lacks something, before that is written
     */
    BucketUpkeep lookAfter(
            int region,
            BlockOwner owner,
            S3Upkeep upkeep,
            BucketUpkeep.Times times,
            Consumer<BlockRef> beforeWrite) {
        return new BucketUpkeep(region, buckets, threads, owner, upkeep, times, beforeWrite)
                .start();
    }

    @Override
    public void newBlocksNotBefore(long timeMs) {
        ids.notBefore(timeMs);
    }

    @Override
    public void list(int region, Consumer<BlockRef> each) throws IOException {
        BlockStoreException failure = null;
        for (Bucket bucket : buckets.ofBlocksOf(region)) {
            try {
                // Chunks of one block follow each other.
                BlockRef[] last = new BlockRef[1];
                bucket.list(
                        buckets.prefix(region),
                        key -> {
                            BlockRef ref = Piece.block(region, key);
                            if (ref != null && !ref.equals(last[0])) {
                                last[0] = ref;
                                each.accept(ref);
                            }
                        });
            } catch (BlockStoreException e) {
                if (e.reason() == Reason.CLOSED) {
                    throw e;
                }
                LOG.info("not all blocks are listed: {}", e.getMessage());
                failure = e;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public Census count(int region, List<BlockRef> blocks) throws IOException {
        return new ObjectCount(buckets, threads, options).run(blocks);
    }

    @Override
    public List<BlockRef> deleteAll(Collection<BlockRef> refs) throws IOException {
        Set<BlockRef> left = new HashSet<>();
        Map<Bucket, Map<String, BlockRef>> work = new LinkedHashMap<>();
        for (BlockRef ref : refs) {
            for (int c = 0; c < ref.getDataChunks() + ref.getParityChunks(); c++) {
                Bucket bucket = buckets.ofOrNull(ref, c);
                if (bucket == null) {
                    left.add(ref);
                } else {
                    work.computeIfAbsent(bucket, b -> new LinkedHashMap<>())
                            .put(buckets.key(Piece.of(ref, c)), ref);
                }
            }
        }
        List<Map<String, BlockRef>> batches = new ArrayList<>();
        try (Transfers<Set<String>> transfers = new Transfers<>(threads)) {
            for (Map.Entry<Bucket, Map<String, BlockRef>> each : work.entrySet()) {
                List<String> keys = List.copyOf(each.getValue().keySet());
                for (int from = 0; from < keys.size(); from += Bucket.MOST_KEYS) {
                    List<String> some =
                            keys.subList(from, Math.min(keys.size(), from + Bucket.MOST_KEYS));
                    Map<String, BlockRef> batch = new HashMap<>(each.getValue());
                    batch.keySet().retainAll(Set.copyOf(some));
                    transfers.start(
                            batches.size(), each.getKey(), () -> each.getKey().delete(some));
                    batches.add(batch);
                }
            }
            awaitDeletes(transfers, batches, left);
        }
        return refs.stream().filter(ref -> !left.contains(ref)).toList();
    }

    private void awaitDeletes(
            Transfers<Set<String>> transfers,
            List<Map<String, BlockRef>> batches,
            Set<BlockRef> left)
            throws IOException {
        long deadline = deadline();
        Set<Integer> silent = new HashSet<>();
        for (int i = 0; i < batches.size(); i++) {
            silent.add(i);
        }
        while (transfers.underWay() > 0) {
            var outcome = transfers.next(deadline);
            if (outcome == null) {
                break;
            }
            Set<String> kept = outcome.value();
            if (kept == null) {
                LOG.info("blocks are not deleted yet: {}", outcome.why().getMessage());
                continue;
            }
            silent.remove(outcome.tag());
            batches.get(outcome.tag())
                    .forEach((key, ref) -> {
                        if (kept.contains(key)) {
                            left.add(ref);
                        }
                    });
        }
        silent.forEach(i -> left.addAll(batches.get(i).values()));
    }

    private static BlockStoreException late(String doing, Bucket bucket) {
        return new BlockStoreException(
                Reason.UNREACHABLE, doing + " " + bucket + " took longer than its deadline");
    }

    @Override
    public void close() {
        if (caches != null) {
            caches.close();
        }
        threads.close();
        buckets.close();
    }
}
