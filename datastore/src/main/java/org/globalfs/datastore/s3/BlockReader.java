package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.globalfs.datastore.client.CacheReader;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.protocol.RareWarning;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ranges of blocks: what a cache of the reader's region has from there, the rest from
 * buckets. Thread-safe.
 */
final class BlockReader {
    private static final Logger LOG = LoggerFactory.getLogger(BlockReader.class);

    /** A whole block from far away takes a second or two. */
    private static final long SILENT_NS = TimeUnit.SECONDS.toNanos(5);

    private final Buckets buckets;
    private final Transfers.Threads threads;
    private final long deadlineNs;
    private final int ownRegion;
    private final @Nullable CacheReader caches;
    private final RareWarning warning = new RareWarning();

    /**
     * @param deadlineMs a read takes at most this
     * @param ownRegion the partition whose bucket is near: its blocks are not asked of caches
     * @param caches null: none is asked
     */
    BlockReader(
            Buckets buckets,
            Transfers.Threads threads,
            long deadlineMs,
            int ownRegion,
            @Nullable CacheReader caches) {
        this.buckets = buckets;
        this.threads = threads;
        this.deadlineNs = TimeUnit.MILLISECONDS.toNanos(deadlineMs);
        this.ownRegion = ownRegion;
        this.caches = caches;
    }

    /**
     * @param throughCache false: only what buckets have counts
     */
    void read(BlockRef ref, int offset, byte[] into, int at, int length, boolean throughCache)
            throws IOException {
        long deadline = System.nanoTime() + deadlineNs;
        boolean near = ref.getParityChunks() == 0 && ref.getRegion() == ownRegion;
        CacheReader asked = throughCache && !near ? caches : null;
        if (ref.getParityChunks() == 0) {
            readWhole(ref, offset, into, at, length, deadline, asked);
        } else {
            readSpread(ref, offset, into, at, length, deadline, asked);
        }
    }

    private void readWhole(
            BlockRef ref,
            int offset,
            byte[] into,
            int at,
            int length,
            long deadline,
            @Nullable CacheReader asked)
            throws IOException {
        Bucket bucket = buckets.of(ref.getRegion());
        try (CacheAsk cache = new CacheAsk(asked, ref, 1, offset, offset + length, deadline)) {
            byte[] value = cache.first().get(0);
            if (value == null) {
                value = readWhole(ref, bucket, cache, offset, length, deadline);
            }
            System.arraycopy(value, 0, into, at, length);
        }
    }

    private byte[] readWhole(
            BlockRef ref, Bucket bucket, CacheAsk cache, int offset, int length, long deadline)
            throws IOException {
        try (Transfers<Map<Integer, byte[]>> transfers = new Transfers<>(threads)) {
            long late = System.nanoTime() + (bucket.isSuspect() ? S3BlockStore.LATE_NS : SILENT_NS);
            Piece piece = Piece.of(ref, 0);
            transfers.start(
                    0, bucket, () -> Map.of(0, buckets.read(bucket, piece, offset, length)));
            cache.later(transfers);
            BlockStoreException failure = null;
            while (true) {
                long until = cache.isLeft() ? Math.min(late, deadline) : deadline;
                var outcome = transfers.next(until);
                byte[] value =
                        outcome == null || outcome.value() == null ? null : outcome.value().get(0);
                if (value != null) {
                    return value;
                }
                if (outcome == null && System.nanoTime() - deadline >= 0) {
                    throw new BlockStoreException(
                            Reason.UNREACHABLE,
                            "reading " + bucket + " took longer than its deadline");
                }
                if (outcome != null && outcome.tag() != CacheAsk.TAG) {
                    failure = outcome.why();
                }
                if (failure != null && (isLost(failure) || !mayStillCome(cache, transfers))) {
                    throw failure;
                }
                if (failure != null || outcome == null) {
                    cache.again(transfers);
                }
            }
        }
    }

    private static boolean mayStillCome(CacheAsk cache, Transfers<?> transfers) {
        return cache.isLeft() || transfers.underWay() > 0;
    }

    private static boolean isLost(BlockStoreException why) {
        return why.reason() == Reason.LOST;
    }

    private void readSpread(
            BlockRef ref,
            int offset,
            byte[] into,
            int at,
            int length,
            long deadline,
            @Nullable CacheReader asked)
            throws IOException {
        if (!buckets.know(ref)) {
            throw Buckets.unknown("bucket " + ref.getEpoch());
        }
        ReedSolomon code = ReedSolomon.of(ref.getDataChunks(), ref.getParityChunks());
        SpreadRead read = new SpreadRead(code, ref.getLength(), offset, length);
        try (CacheAsk cache =
                new CacheAsk(
                        asked,
                        ref,
                        read.wanted(),
                        read.from(),
                        read.from() + read.width(),
                        deadline)) {
            cache.first().forEach(read::have);
            readLacking(ref, read, cache, deadline);
        }
        read.copy(into, at);
        if (!read.failures().isEmpty() && warning.isDue(System.nanoTime())) {
            // While a region is away every read has something to say.
            LOG.warn(
                    "reading {} without a chunk: {}", ref, read.failures().getFirst().getMessage());
        }
    }

    private void readLacking(BlockRef ref, SpreadRead read, CacheAsk cache, long deadline)
            throws IOException {
        try (Transfers<Map<Integer, byte[]>> transfers = new Transfers<>(threads)) {
            boolean[] suspect = new boolean[1];
            SpreadRead.Fetch fetch =
                    (chunk, from, bytes) -> {
                        Piece piece = Piece.of(ref, chunk);
                        Bucket bucket = buckets.of(ref, chunk);
                        suspect[0] |= bucket.isSuspect();
                        transfers.start(
                                chunk,
                                bucket,
                                () -> Map.of(chunk, buckets.read(bucket, piece, from, bytes)));
                    };
            read.start(fetch, buckets.waysNs(ref));
            cache.later(transfers);
            long late = System.nanoTime() + (suspect[0] ? 0 : S3BlockStore.LATE_NS);
            read.run(fetch, transfers, cache, late, deadline);
        }
    }
}
