package org.globalfs.datastore.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.datastore.placement.Placement;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The block store on the cluster's own storage nodes: RS(4,2), placed by the newest placement
 * epoch.
 */
public final class DistributedBlockStore implements BlockStore {
    private static final Logger LOG = LoggerFactory.getLogger(DistributedBlockStore.class);
    private static final int DATA_CHUNKS = 4;
    private static final int PARITY_CHUNKS = 2;
    private static final int LARGE_ARRAY_BYTES =
            MAX_BLOCK_BYTES / DATA_CHUNKS * (DATA_CHUNKS + PARITY_CHUNKS);
    private static final int SMALL_ARRAY_BYTES = 512 << 10;
    private static final int LARGE_ARRAYS_KEPT = 8;
    private static final int SMALL_ARRAYS_KEPT = 32;

    private final BlockClientContext context;
    private final NodeDirectory directory;
    private final FailureDetector detector;
    private final LanePool lanes;
    private final ReadRepair repair;
    private final ReedSolomon code = ReedSolomon.of(DATA_CHUNKS, PARITY_CHUNKS);
    private final Queue<byte[]> largeArrays = new ConcurrentLinkedQueue<>();
    private final Queue<byte[]> smallArrays = new ConcurrentLinkedQueue<>();

    private final BlockIds ids = new BlockIds();

    public DistributedBlockStore(String cluster, Discovery discovery, PlacementEpochs epochs) {
        this(cluster, discovery, epochs, BlockClientContext.Options.defaults());
    }

    /** With other limits: how long a node may be silent, and how long an operation may take. */
    public DistributedBlockStore(
            String cluster,
            Discovery discovery,
            PlacementEpochs epochs,
            long requestTimeoutMs,
            long deadlineMs) {
        this(
                cluster,
                discovery,
                epochs,
                new BlockClientContext.Options(
                        TimeUnit.MILLISECONDS.toNanos(requestTimeoutMs),
                        TimeUnit.MILLISECONDS.toNanos(deadlineMs),
                        BlockClientContext.Options.defaults().lanes()));
    }

    DistributedBlockStore(
            String cluster,
            Discovery discovery,
            PlacementEpochs epochs,
            BlockClientContext.Options options) {
        directory = new NodeDirectory(discovery, epochs);
        detector = new FailureDetector(cluster, directory);
        context = new BlockClientContext(directory, detector, options, new ReadTimes());
        lanes = new LanePool(cluster, options.lanes());
        repair = new ReadRepair(this, cluster, directory);
        ReedSolomon.warmUp();
    }

    @Override
    public BlockRef put(int region, ByteBuffer content) throws IOException {
        int length = BlockStore.checkedLength(content);
        long deadline = System.nanoTime() + context.options().deadlineNs();
        int epoch = directory.newestEpoch();
        Placement placement = directory.placement(epoch, region);
        BlockIds.Id id = ids.next();
        long idHigh = id.high();
        long idLow = id.low();
        List<StorageSite> homes = placement.homes(idHigh, idLow, DATA_CHUNKS, PARITY_CHUNKS);
        if (homes == null) {
            throw new BlockStoreException(
                    BlockStoreException.Reason.UNPLACEABLE,
                    placement.shortage(DATA_CHUNKS, PARITY_CHUNKS));
        }
        BlockRef ref =
                new BlockRef(
                        idHigh,
                        idLow,
                        length,
                        region,
                        (byte) DATA_CHUNKS,
                        (byte) PARITY_CHUNKS,
                        epoch);
        int chunkBytes = code.chunkBytes(length);
        byte[] chunks = takeArray(chunkBytes * code.chunks());
        try {
            content.get(content.position(), chunks, 0, length);
            Arrays.fill(chunks, length, chunkBytes * DATA_CHUNKS, (byte) 0);
            code.encode(chunks, chunkBytes);
            put(ref, chunks, chunkBytes, homes, placement.ranking(idHigh, idLow), deadline);
        } catch (BlockStoreException e) {
            if (e.reason() == BlockStoreException.Reason.NO_SPACE) {
                // Not by the caller, who should not wait for nodes that are down.
                Thread.startVirtualThread(() -> takeBack(ref));
            }
            throw e;
        } finally {
            giveArray(chunks);
        }
        return ref;
    }

    /** Why an epoch could place no block in the region; null: it could. */
    public static @Nullable String shortage(Epoch epoch, int region) {
        Placement placement = Placement.of(epoch, region);
        return placement.homes(0, 0, DATA_CHUNKS, PARITY_CHUNKS) != null
                ? null
                : placement.shortage(DATA_CHUNKS, PARITY_CHUNKS);
    }

    private void put(
            BlockRef ref,
            byte[] chunks,
            int chunkBytes,
            List<StorageSite> homes,
            List<StorageSite> ranking,
            long deadline)
            throws IOException {
        Lane lane = lanes.take(deadline);
        try {
            new PutOperation(
                            context,
                            lane,
                            ref.getIdHigh(),
                            ref.getIdLow(),
                            shape(ref),
                            chunks,
                            chunkBytes,
                            homes,
                            ranking,
                            deadline)
                    .run();
        } finally {
            lanes.give(lane);
        }
    }

    /**
     * What some nodes still had room for would be in the way of what is written after a removal.
     */
    private void takeBack(BlockRef ref) {
        try {
            if (deleteAll(List.of(ref)).isEmpty()) {
                LOG.info("chunks of {}, which found no room, stay as garbage", ref);
            }
        } catch (IOException e) {
            LOG.info("chunks of {}, which found no room, stay as garbage: {}", ref, e.toString());
        }
    }

    static ChunkShape shape(BlockRef ref) {
        return new ChunkShape(
                ref.getLength(),
                ref.getRegion(),
                ref.getDataChunks(),
                ref.getParityChunks(),
                ref.getEpoch());
    }

    private byte[] takeArray(int bytes) {
        if (bytes > LARGE_ARRAY_BYTES) {
            return new byte[bytes];
        }
        boolean small = bytes <= SMALL_ARRAY_BYTES;
        byte[] array = (small ? smallArrays : largeArrays).poll();
        return array != null ? array : new byte[small ? SMALL_ARRAY_BYTES : LARGE_ARRAY_BYTES];
    }

    private void giveArray(byte[] array) {
        if (array.length == SMALL_ARRAY_BYTES && smallArrays.size() < SMALL_ARRAYS_KEPT) {
            smallArrays.add(array);
        } else if (array.length == LARGE_ARRAY_BYTES && largeArrays.size() < LARGE_ARRAYS_KEPT) {
            largeArrays.add(array);
        }
    }

    @Override
    public void get(BlockRef ref, int offset, byte[] into, int at, int length) throws IOException {
        read(ref, offset, into, at, length).ifDamaged(damaged -> repair.offer(ref, damaged));
    }

    /** Chunks that a read found missing or damaged at their homes. */
    record ReadResult(List<Integer> damaged) {
        void ifDamaged(java.util.function.Consumer<List<Integer>> action) {
            if (!damaged.isEmpty()) {
                action.accept(damaged);
            }
        }
    }

    ReadResult read(BlockRef ref, int offset, byte[] into, int at, int length) throws IOException {
        BlockStore.checkRange(ref, offset, length);
        if (length == 0) {
            return new ReadResult(List.of());
        }
        long deadline = System.nanoTime() + context.options().deadlineNs();
        GetOperation operation;
        List<StorageSite> homes = homes(ref);
        List<StorageSite> former =
                ref.getEpoch() == directory.newestEpoch() ? homes : formerHomes(ref);
        Lane lane = lanes.take(deadline);
        try {
            operation =
                    new GetOperation(
                            context,
                            lane,
                            ref,
                            ReedSolomon.of(ref.getDataChunks(), ref.getParityChunks()),
                            homes,
                            former,
                            directory.holders(ref.getRegion()),
                            offset,
                            length,
                            into,
                            at,
                            deadline);
            operation.run();
        } finally {
            lanes.give(lane);
        }
        return new ReadResult(operation.damaged());
    }

    /**
     * One chunk of a block, made from others where its node does not serve it.
     *
     * @throws BlockStoreException fewer than k of the others can be had now
     */
    public byte[] chunk(ChunkKey key, ChunkShape shape) throws IOException {
        BlockRef ref =
                new BlockRef(
                        key.idHigh(),
                        key.idLow(),
                        shape.blockBytes(),
                        shape.region(),
                        (byte) shape.dataChunks(),
                        (byte) shape.parityChunks(),
                        shape.epoch());
        ReedSolomon ownCode = ReedSolomon.of(shape.dataChunks(), shape.parityChunks());
        int chunkBytes = ownCode.chunkBytes(shape.blockBytes());
        byte[] chunks = new byte[chunkBytes * ownCode.chunks()];
        var _ = read(ref, 0, chunks, 0, shape.blockBytes());
        ownCode.encode(chunks, chunkBytes);
        return Arrays.copyOfRange(chunks, key.index() * chunkBytes, (key.index() + 1) * chunkBytes);
    }

    /** Where the block's chunks belong now. */
    List<StorageSite> homes(BlockRef ref) throws IOException {
        List<StorageSite> homes = homes(ref, directory.newest(ref.getRegion()));
        return homes != null ? homes : formerHomes(ref);
    }

    /** Where they were written, and are until they have been moved. */
    private List<StorageSite> formerHomes(BlockRef ref) throws IOException {
        Placement placement = directory.placement(ref.getEpoch(), ref.getRegion());
        List<StorageSite> homes = homes(ref, placement);
        if (homes == null) {
            throw new BlockStoreException(
                    BlockStoreException.Reason.UNPLACEABLE,
                    ref
                            + " cannot have been placed by its epoch: "
                            + placement.shortage(ref.getDataChunks(), ref.getParityChunks()));
        }
        return homes;
    }

    private static @Nullable List<StorageSite> homes(BlockRef ref, Placement placement) {
        return placement.homes(
                ref.getIdHigh(), ref.getIdLow(), ref.getDataChunks(), ref.getParityChunks());
    }

    @Override
    public List<BlockRef> deleteAll(Collection<BlockRef> refs) throws IOException {
        List<BlockRef> all = List.copyOf(refs);
        List<BlockRef> deleted = new ArrayList<>();
        for (int from = 0; from < all.size(); from += DeleteOperation.MAX_BLOCKS) {
            int to = Math.min(all.size(), from + DeleteOperation.MAX_BLOCKS);
            deleteBatch(all.subList(from, to), deleted);
        }
        return deleted;
    }

    private void deleteBatch(List<BlockRef> refs, List<BlockRef> deleted) throws IOException {
        long deadline = System.nanoTime() + context.options().deadlineNs() / 3;
        Map<String, StorageSite> sites = new HashMap<>();
        Map<String, List<BlockRef>> bySite = new HashMap<>();
        Map<BlockRef, List<StorageSite>> byRef = new HashMap<>();
        for (BlockRef ref : refs) {
            List<StorageSite> holders = directory.holders(ref.getRegion());
            byRef.put(ref, holders);
            for (StorageSite site : holders) {
                sites.put(site.id(), site);
                bySite.computeIfAbsent(site.id(), id -> new ArrayList<>()).add(ref);
            }
        }
        Map<StorageSite, List<BlockRef>> work = new LinkedHashMap<>();
        sites.forEach((id, site) -> work.put(site, bySite.getOrDefault(id, List.of())));
        Set<String> failed;
        Lane lane = lanes.take(deadline);
        try {
            failed = new DeleteOperation(context, lane, deadline).run(work);
        } finally {
            lanes.give(lane);
        }
        for (BlockRef ref : refs) {
            List<StorageSite> holders = byRef.getOrDefault(ref, List.of());
            if (holders.stream().noneMatch(site -> failed.contains(site.id()))) {
                deleted.add(ref);
            }
        }
    }

    /** Ids of nodes that this client finds silent at the moment. */
    public boolean isSuspect(String node) {
        return detector.isSuspect(node);
    }

    @Override
    public void close() {
        repair.close();
        detector.close();
        try {
            lanes.close();
        } catch (IOException e) {
            LOG.warn("closing connections to storage nodes: {}", e.toString());
        }
    }
}
