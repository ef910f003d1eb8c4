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
import java.util.function.Consumer;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.datastore.placement.Placement;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.BlockIds;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The block store on the cluster's own storage nodes. Blocks are placed by the newest placement
 * epoch and coded as it says; small ones are kept as whole copies, as many as survive the same
 * losses. Blocks of all regions have fewer data chunks while some regions take none, so that any
 * other may be lost.
 */
public final class DistributedBlockStore implements BlockStore, ChunkOrigin {
    private static final Logger LOG = LoggerFactory.getLogger(DistributedBlockStore.class);

    /** Below this, requests cost more than the bytes that a code saves. */
    static final int COPIED_BELOW_BYTES = 64 << 10;

    private static final long UNUSED_LANES_PERIOD_MS = 30_000;
    private static final int LIST_TIMEOUT_MS = 10_000;
    private static final int LISTED_AT_ONCE = 10_000;
    private static final int LARGE_ARRAY_BYTES = MAX_BLOCK_BYTES * 3 / 2;
    private static final int SMALL_ARRAY_BYTES = 512 << 10;
    private static final int LARGE_ARRAYS_KEPT = 8;
    private static final int SMALL_ARRAYS_KEPT = 32;

    private final String cluster;
    private final BlockClientContext context;
    private final NodeDirectory directory;
    private final FailureDetector detector;
    private final RegionDistances measured;
    private final LanePool lanes;
    private final ReadRepair repair;
    private final Queue<byte[]> largeArrays = new ConcurrentLinkedQueue<>();
    private final Queue<byte[]> smallArrays = new ConcurrentLinkedQueue<>();

    private final BlockIds ids = new BlockIds();

    /**
     * @param region where this process is: what is near is read first
     */
    public DistributedBlockStore(
            String cluster, String region, Discovery discovery, PlacementEpochs epochs) {
        this(cluster, region, discovery, epochs, BlockClientContext.Options.defaults());
    }

    /**
     * @param storage how it is configured to be used
     */
    public DistributedBlockStore(
            String cluster,
            String region,
            Discovery discovery,
            PlacementEpochs epochs,
            BlockStorage storage) {
        this(cluster, region, discovery, epochs, BlockClientContext.Options.of(storage));
    }

    /** With other limits: how long a node may be silent, and how long an operation may take. */
    public DistributedBlockStore(
            String cluster,
            String region,
            Discovery discovery,
            PlacementEpochs epochs,
            long requestTimeoutMs,
            long deadlineMs) {
        this(
                cluster,
                region,
                discovery,
                epochs,
                new BlockClientContext.Options(
                        TimeUnit.MILLISECONDS.toNanos(requestTimeoutMs),
                        TimeUnit.MILLISECONDS.toNanos(deadlineMs),
                        BlockClientContext.Options.defaults().lanes()));
    }

    DistributedBlockStore(
            String cluster,
            String region,
            Discovery discovery,
            PlacementEpochs epochs,
            BlockClientContext.Options options) {
        this(cluster, region, discovery, epochs, options, null);
    }

    /**
     * @param known how far nodes are; null: it is measured
     */
    DistributedBlockStore(
            String cluster,
            String region,
            Discovery discovery,
            PlacementEpochs epochs,
            BlockClientContext.Options options,
            @Nullable Distances known) {
        this.cluster = cluster;
        directory = new NodeDirectory(discovery, epochs);
        LanePool pool = new LanePool(cluster, options.lanes(), options.background());
        lanes = pool;
        detector =
                new FailureDetector(cluster, directory, pool::closeUnused, UNUSED_LANES_PERIOD_MS);
        measured = new RegionDistances(cluster, region, directory, detector);
        Distances distances = known == null ? measured : known;
        context =
                new BlockClientContext(
                        directory,
                        detector,
                        new WritableRegions(detector::isSuspect, System::nanoTime),
                        new NewerEpochs(cluster, directory, detector),
                        distances,
                        options,
                        new ReadTimes(),
                        new NodeTimes(System::nanoTime),
                        new RegionCaches(region, directory.caches(), detector, new CacheTimes()));
        repair = new ReadRepair(this, cluster, directory);
        ReedSolomon.warmUp();
    }

    /** For work that nobody waits for: nodes do it when others' does not wait for room. */
    public static DistributedBlockStore inBackground(
            String cluster,
            String region,
            Discovery discovery,
            PlacementEpochs epochs,
            BlockStorage storage) {
        return new DistributedBlockStore(
                cluster,
                region,
                discovery,
                epochs,
                BlockClientContext.Options.of(storage).inBackground());
    }

    @Override
    public BlockRef put(int region, ByteBuffer content) throws IOException {
        int length = BlockStore.checkedLength(content);
        long deadline = System.nanoTime() + context.options().deadlineNs();
        while (true) {
            BlockRef ref = tryToPut(region, content, length, deadline);
            if (ref != null) {
                return ref;
            }
        }
    }

    /** Null: with the regions that take chunks now it can only be coded otherwise. */
    private @Nullable BlockRef tryToPut(int region, ByteBuffer content, int length, long deadline)
            throws IOException {
        int epoch = directory.newestEpoch();
        Placement placement = directory.placement(epoch, region);
        BlockIds.Id id = ids.next();
        BlockCode wanted = codeFor(placement, region, length);
        List<StorageSite> homes =
                placement.homes(id.high(), id.low(), wanted.dataChunks(), wanted.parityChunks());
        if (homes == null) {
            throw new BlockStoreException(
                    BlockStoreException.Reason.UNPLACEABLE, placement.shortage(wanted));
        }
        BlockRef ref =
                new BlockRef(
                        id.high(),
                        id.low(),
                        length,
                        region,
                        (byte) wanted.dataChunks(),
                        (byte) wanted.parityChunks(),
                        epoch);
        ReedSolomon code = ReedSolomon.of(wanted.dataChunks(), wanted.parityChunks());
        int chunkBytes = code.chunkBytes(length);
        byte[] chunks = takeArray(chunkBytes * code.chunks());
        try {
            content.get(content.position(), chunks, 0, length);
            Arrays.fill(chunks, length, chunkBytes * code.dataChunks(), (byte) 0);
            code.encode(chunks, chunkBytes);
            PutOperation.Outcome outcome = put(ref, chunks, chunkBytes, homes, placement, deadline);
            if (outcome == PutOperation.Outcome.TOO_WIDE) {
                Thread.startVirtualThread(() -> takeBack(ref));
                return null;
            }
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

    private BlockCode codeFor(Placement placement, int region, int length)
            throws BlockStoreException {
        BlockCode code = placement.code();
        if (code == null) {
            throw new BlockStoreException(
                    BlockStoreException.Reason.UNPLACEABLE, placement.shortage());
        }
        if (length < COPIED_BELOW_BYTES) {
            return code.withDataChunks(1);
        }
        int most =
                region == 0
                        ? context.writable().mostDataChunks(placement.nodes(), code.parityChunks())
                        : 0;
        return most > 0 && most < code.dataChunks() ? code.withDataChunks(most) : code;
    }

    /**
     * Why blocks could be kept no longer as they are now if another epoch followed; null: they can.
     *
     * @param held how blocks are coded that there are, beside those that are written now
     */
    public static @Nullable String shortage(
            Epoch before, Epoch after, int region, Collection<BlockCode> held) {
        Placement now = Placement.of(before, region);
        Placement next = Placement.of(after, region);
        List<BlockCode> codes = new ArrayList<>(held);
        BlockCode current = now.code();
        if (current != null) {
            codes.addFirst(current);
        }
        for (BlockCode code : codes) {
            if (now.fits(code) && !next.fits(code)) {
                return next.shortage(code);
            }
        }
        return null;
    }

    private PutOperation.Outcome put(
            BlockRef ref,
            byte[] chunks,
            int chunkBytes,
            List<StorageSite> homes,
            Placement placement,
            long deadline)
            throws IOException {
        Lane lane = lanes.take(deadline);
        try {
            return new PutOperation(
                            context,
                            lane,
                            ref.getIdHigh(),
                            ref.getIdLow(),
                            ChunkShape.of(ref),
                            chunks,
                            chunkBytes,
                            homes,
                            placement,
                            deadline)
                    .run();
        } finally {
            lanes.give(lane);
        }
    }

    /** What some nodes took of a block that is not written so would be in the way of what is. */
    private void takeBack(BlockRef ref) {
        try {
            if (deleteAll(List.of(ref)).isEmpty()) {
                LOG.info("chunks of {}, which was not written, stay as garbage", ref);
            }
        } catch (IOException e) {
            LOG.info("chunks of {}, which was not written, stay as garbage: {}", ref, e.toString());
        }
    }

    private static BlockRef ref(ChunkKey key, ChunkShape shape) {
        return new BlockRef(
                key.idHigh(),
                key.idLow(),
                shape.blockBytes(),
                shape.region(),
                (byte) shape.dataChunks(),
                (byte) shape.parityChunks(),
                shape.epoch());
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
        return read(ref, offset, into, at, length, context.options().deadlineNs(), true);
    }

    private ReadResult read(
            BlockRef ref,
            int offset,
            byte[] into,
            int at,
            int length,
            long timeoutNs,
            boolean throughCache)
            throws IOException {
        BlockStore.checkRange(ref, offset, length);
        if (length == 0) {
            return new ReadResult(List.of());
        }
        long deadline = System.nanoTime() + timeoutNs;
        while (true) {
            int epoch = directory.newestEpoch();
            List<StorageSite> homes = homes(ref);
            List<StorageSite> former = ref.getEpoch() == epoch ? homes : formerHomesOr(homes, ref);
            Lane lane = lanes.take(deadline);
            try {
                GetOperation operation =
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
                operation.run(throughCache, epoch);
                return new ReadResult(operation.damaged());
            } catch (StaleEpochException e) {
                LOG.debug("{} is read again: epoch {} is not the newest", ref, epoch);
            } finally {
                lanes.give(lane);
            }
        }
    }

    /**
     * One chunk of a block, made from others where its node does not serve it. Whoever makes chunks
     * anew has others to make meanwhile, and is less patient than readers.
     *
     * @throws BlockStoreException fewer than k of the others can be had now
     */
    public byte[] chunk(ChunkKey key, ChunkShape shape) throws IOException {
        BlockRef ref = ref(key, shape);
        ReedSolomon ownCode = ReedSolomon.of(shape.dataChunks(), shape.parityChunks());
        int chunkBytes = ownCode.chunkBytes(shape.blockBytes());
        byte[] chunks = takeArray(chunkBytes * ownCode.dataChunks());
        long timeoutNs = context.options().deadlineNs() / 3;
        try {
            var _ = read(ref, 0, chunks, 0, shape.blockBytes(), timeoutNs, false);
            Arrays.fill(chunks, shape.blockBytes(), chunkBytes * ownCode.dataChunks(), (byte) 0);
            if (key.index() >= ownCode.dataChunks()) {
                return ownCode.parity(chunks, chunkBytes, key.index());
            }
            return Arrays.copyOfRange(
                    chunks, key.index() * chunkBytes, (key.index() + 1) * chunkBytes);
        } finally {
            giveArray(chunks);
        }
    }

    @Override
    public List<Integer> regions(BlockRef ref) throws IOException {
        if (ChunkShape.of(ref).isNonsense()) {
            return List.of();
        }
        return homes(ref).stream().map(StorageSite::partition).toList();
    }

    @Override
    public Fetched fetch(BlockRef ref, long chunks) throws IOException {
        long deadline = System.nanoTime() + context.options().requestTimeoutNs();
        List<StorageSite> homes = homes(ref);
        Lane lane = lanes.take(deadline);
        try {
            return new FetchOperation(context, lane, ref, homes, chunks, deadline).run();
        } finally {
            lanes.give(lane);
        }
    }

    /** Where the block's chunks belong now, by chunk index. */
    public List<StorageSite> homes(BlockRef ref) throws IOException {
        List<StorageSite> homes = homes(ref, directory.newest(ref.getRegion()));
        return homes != null ? homes : formerHomes(ref);
    }

    /**
     * Where they were written; or these, where ZooKeeper has lost the block's epoch, or its number
     * is another one's since: whoever finds nothing at its homes asks all nodes.
     */
    private List<StorageSite> formerHomesOr(List<StorageSite> homes, BlockRef ref) {
        try {
            List<StorageSite> former =
                    homes(ref, directory.placement(ref.getEpoch(), ref.getRegion()));
            return former != null ? former : homes;
        } catch (IOException e) {
            LOG.debug("{} is looked for without its epoch: {}", ref, e.getMessage());
            return homes;
        }
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
                            + placement.shortage(
                                    new BlockCode(ref.getDataChunks(), ref.getParityChunks())));
        }
        return homes;
    }

    private static @Nullable List<StorageSite> homes(BlockRef ref, Placement placement) {
        return placement.homes(
                ref.getIdHigh(), ref.getIdLow(), ref.getDataChunks(), ref.getParityChunks());
    }

    @Override
    public void newBlocksNotBefore(long timeMs) {
        ids.notBefore(timeMs);
    }

    @Override
    public void list(int region, Consumer<BlockRef> each) throws IOException {
        List<String> silent = ofAllHolders(region, node -> list(node, region, each));
        if (!silent.isEmpty()) {
            throw new BlockStoreException(
                    BlockStoreException.Reason.UNREACHABLE,
                    "these did not list their blocks: " + String.join(", ", silent));
        }
    }

    @Override
    public Census count(int region, List<BlockRef> blocks) throws IOException {
        if (blocks.isEmpty()) {
            return new Census(new int[0], List.of());
        }
        ChunkCount count = new ChunkCount(blocks);
        List<String> silent = ofAllHolders(region, count::add);
        return new Census(count.counts(), silent);
    }

    private interface Question {
        void ask(StorageConnection node) throws IOException;
    }

    /** Asks all nodes that may have a region's chunks; returns those that did not answer. */
    private List<String> ofAllHolders(int region, Question question) throws IOException {
        List<String> silent = new ArrayList<>();
        for (StorageSite site : directory.holders(region)) {
            if (detector.isSuspect(site.id())) {
                silent.add(site.id());
                continue;
            }
            try (StorageConnection connection =
                    new StorageConnection(
                            directory.address(site), cluster, site.id(), LIST_TIMEOUT_MS)) {
                question.ask(connection);
            } catch (IOException e) {
                LOG.info("{} does not list its blocks: {}", site.id(), e.toString());
                silent.add(site.id());
            }
        }
        return silent;
    }

    private static void list(StorageConnection connection, int region, Consumer<BlockRef> each)
            throws IOException {
        ChunkKey after = null;
        while (true) {
            List<StorageConnection.Listed> page = connection.list(after, LISTED_AT_ONCE);
            for (StorageConnection.Listed chunk : page) {
                if (chunk.shape().region() == region) {
                    each.accept(ref(chunk.key(), chunk.shape()));
                }
            }
            if (page.size() < LISTED_AT_ONCE) {
                return;
            }
            after = page.getLast().key();
        }
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
        measured.close();
        detector.close();
        try {
            lanes.close();
        } catch (IOException e) {
            LOG.warn("closing connections to storage nodes: {}", e.toString());
        }
    }
}
