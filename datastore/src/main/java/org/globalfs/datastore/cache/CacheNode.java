package org.globalfs.datastore.cache;

import java.io.IOException;
import java.util.Map;
import java.util.function.LongSupplier;
import org.globalfs.datastore.cache.policy.AgarPolicy;
import org.globalfs.datastore.cache.policy.CachePolicy;
import org.globalfs.datastore.cache.policy.FixedChunks;
import org.globalfs.datastore.cache.policy.HullPlanner;
import org.globalfs.datastore.cache.policy.RegionLatencies;
import org.globalfs.datastore.cache.policy.RequestMonitor;
import org.globalfs.datastore.client.CacheNodes;
import org.globalfs.datastore.client.ChunkOrigin;
import org.globalfs.datastore.node.Compaction;
import org.globalfs.datastore.node.DataFolder;
import org.globalfs.datastore.node.Descriptors;
import org.globalfs.datastore.node.SegmentStore;
import org.globalfs.datastore.node.StorageServer;
import org.globalfs.datastore.wire.CacheStatistics;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running cache: the role `cache` of a server. Chunks are on its disk, those that are used much
 * in the system's page cache; they are there again when it is restarted. Blocks never change, so
 * what it has is never old.
 */
public final class CacheNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CacheNode.class);

    /** How long getting something from the cache takes, about. */
    private static final double CACHE_MS = 1;

    /** A cache of chunks smaller than this, on average, knows only its more popular blocks. */
    private static final int BYTES_PER_CANDIDATE = 64 << 10;

    private static final int LEAST_CANDIDATES = 1 << 10;
    private static final int MOST_CANDIDATES = 1 << 18;
    private static final int COLUMNS_PER_CANDIDATE = 4;

    /** What the heap has to have for each block that something is kept of, about. */
    private static final int HEAP_OF_A_BLOCK = 128;

    /** Part of the heap that these may take. */
    private static final int HEAP_PART = 8;

    private final CacheOptions options;
    private final DataFolder folder;
    private final SegmentStore store;
    private final CacheKeeper keeper;
    private final CacheCounters counters;
    private final StorageServer server;
    private final Compaction compaction;
    private Descriptors.@Nullable Claim descriptors;

    private CacheNode(
            CacheOptions options,
            DataFolder folder,
            SegmentStore store,
            CacheKeeper keeper,
            CacheCounters counters,
            StorageServer server) {
        this.options = options;
        this.folder = folder;
        this.store = store;
        this.keeper = keeper;
        this.counters = counters;
        this.server = server;
        compaction = new Compaction(store, CacheNodes.name(options.id()));
    }

    /**
     * Opens the folder, serves, and tells the cluster. Everything wrong is one clear IOException.
     *
     * @param origin where chunks are got from
     */
    public static CacheNode start(CacheOptions options, Discovery discovery, ChunkOrigin origin)
            throws IOException {
        CacheNode node = open(options, origin);
        try {
            node.descriptors = Descriptors.claim(node.folder.path(), options.capacityBytes());
            node.keeper.start();
            node.compaction.start();
            node.server.start(() -> new CacheRequests(node.store, node.keeper, node.counters));
            discovery.register(
                    new Member(
                            Role.CACHE,
                            options.id(),
                            options.region(),
                            options.partition(),
                            options.datacenter(),
                            node.address(),
                            Map.of("capacity", Long.toString(options.capacityBytes()))));
        } catch (IOException | RuntimeException e) {
            node.close();
            throw e;
        }
        LOG.info("cache {} serves {} at {}", options.id(), options.data(), node.address());
        return node;
    }

    private static CacheNode open(CacheOptions options, ChunkOrigin origin) throws IOException {
        String name = CacheNodes.name(options.id());
        DataFolder folder = DataFolder.open(options.data(), options.cluster(), name);
        try {
            SegmentStore store =
                    SegmentStore.open(
                            folder.path(),
                            new SegmentStore.Options(
                                    options.cluster(),
                                    name,
                                    Long.MAX_VALUE,
                                    options.reserve().on(Disk.of(folder.path())),
                                    SegmentStore.Options.DEFAULT_SEGMENT_BYTES,
                                    false));
            try {
                CacheCounters counters = new CacheCounters();
                CacheKeeper keeper = keeper(options, store, origin, counters);
                StorageServer server = new StorageServer(options.cluster(), name, options.bind());
                return new CacheNode(options, folder, store, keeper, counters, server);
            } catch (IOException | RuntimeException e) {
                store.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    /** How many blocks a cache in such a heap keeps something of. */
    static int mostBlocks(long heapBytes) {
        return (int) Math.min(Integer.MAX_VALUE, heapBytes / HEAP_PART / HEAP_OF_A_BLOCK);
    }

    private static CacheKeeper keeper(
            CacheOptions options, SegmentStore store, ChunkOrigin origin, CacheCounters counters) {
        int mostBlocks = mostBlocks(Runtime.getRuntime().maxMemory());
        // No more than half of the blocks, so that a plan always has room.
        int candidates =
                Math.clamp(
                        Math.min(options.capacityBytes() / BYTES_PER_CANDIDATE, mostBlocks / 2),
                        LEAST_CANDIDATES,
                        MOST_CANDIDATES);
        RequestMonitor monitor =
                new RequestMonitor(
                        Integer.highestOneBit(candidates) * COLUMNS_PER_CANDIDATE, candidates);
        RegionLatencies latencies = new RegionLatencies(CacheKeeper.AWAY_MS);
        CachePolicy policy;
        LongSupplier planned;
        if (options.policy() == CachePolicyKind.AGAR) {
            AgarPolicy agar =
                    new AgarPolicy(
                            monitor,
                            new HullPlanner(),
                            latencies,
                            CACHE_MS,
                            options.capacityBytes(),
                            mostBlocks);
            policy = agar;
            planned = () -> agar.plan().chunks().size();
        } else {
            FixedChunks.Choice choice =
                    switch (options.policy()) {
                        case LRU, AGAR -> FixedChunks.Choice.LRU;
                        case LFU -> FixedChunks.Choice.LFU;
                        case TINY_LFU -> FixedChunks.Choice.TINY_LFU;
                    };
            policy =
                    new FixedChunks(
                            choice,
                            options.chunks(),
                            monitor,
                            latencies,
                            options.capacityBytes(),
                            mostBlocks);
            planned = () -> 0;
        }
        return new CacheKeeper(
                CacheNodes.name(options.id()),
                store,
                origin,
                policy,
                latencies,
                planned,
                options.capacityBytes(),
                options.periodMs(),
                options.fetchBytesPerSecond(),
                counters);
    }

    /** Where others reach it. */
    public HostPort address() {
        return new HostPort(options.advertise(), server.address().port());
    }

    public CacheStatistics statistics() {
        return keeper.statistics();
    }

    /** Stops serving; what it has stays on disk. */
    @Override
    public void close() throws IOException {
        Descriptors.Claim claim = descriptors;
        if (claim != null) {
            descriptors = null;
            claim.release();
        }
        server.close();
        keeper.close();
        compaction.close();
        store.close();
        folder.close();
    }
}
