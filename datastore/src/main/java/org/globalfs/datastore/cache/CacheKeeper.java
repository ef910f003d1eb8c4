package org.globalfs.datastore.cache;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.globalfs.datastore.cache.policy.BlockKey;
import org.globalfs.datastore.cache.policy.CachePolicy;
import org.globalfs.datastore.cache.policy.ChunkLayout;
import org.globalfs.datastore.cache.policy.RegionLatencies;
import org.globalfs.datastore.client.ChunkOrigin;
import org.globalfs.datastore.client.Fetched;
import org.globalfs.datastore.client.FetchedChunk;
import org.globalfs.datastore.node.ChunkLocation;
import org.globalfs.datastore.node.SegmentStore;
import org.globalfs.datastore.wire.CacheStatistics;
import org.globalfs.datastore.wire.CachedRequest;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what the cache keeps (Agar's region keeper, request monitor and cache manager): one
 * thread owns the policy and hears of requests and of chunks that came. When it has no time for
 * requests it misses some, which matters to nobody but the policy.
 *
 * <p>Invariant: what the policy counts as kept is in the store, and nothing else stays there, but
 * for a while what could not be discarded.
 */
final class CacheKeeper implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CacheKeeper.class);
    private static final int EVENTS = 16_384;
    private static final int LISTED_AT_ONCE = 1_000;
    private static final long TURN_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long CLOSE_MS = 10_000;

    /** Chunks that cannot be discarded, in a period: an index that takes no changes takes none. */
    private static final int MOST_STUCK = 16;

    /** A chunk whose node does not answer is as far away as this. */
    static final double AWAY_MS = 5_000;

    private final String name;
    private final SegmentStore store;
    private final ChunkOrigin origin;
    private final CachePolicy policy;
    private final RegionLatencies latencies;
    private final LongSupplier planned;
    private final long capacityBytes;
    private final long periodNs;
    private final CacheCounters counters;
    private final ChunkFetcher fetcher;
    private final BlockingQueue<Event> events = new ArrayBlockingQueue<>(EVENTS);
    private final Shutdown shutdown = new Shutdown();
    private final Thread thread;

    /** Chunks that were ordered: a bit by chunk index. */
    private final Map<BlockKey, Long> ordered = new HashMap<>();

    /** What left the policy and could not be discarded; what was tried last comes last. */
    private final Set<ChunkKey> undiscarded = new LinkedHashSet<>();

    /** Regions whose distance is being found out. */
    private final Set<Integer> probed = new HashSet<>();

    /**
     * The largest block that was asked for in this period: regions are measured with its chunks.
     */
    private @Nullable BlockRef sample;

    private sealed interface Event {}

    private record Asked(CachedRequest request) implements Event {}

    private record Came(ChunkFetcher.Order order, Fetched fetched, List<Integer> kept)
            implements Event {}

    /**
     * @param planned how many blocks the policy's plan has
     * @param fetchBytesPerSecond got from the origin at most
     */
    CacheKeeper(
            String name,
            SegmentStore store,
            ChunkOrigin origin,
            CachePolicy policy,
            RegionLatencies latencies,
            LongSupplier planned,
            long capacityBytes,
            long periodMs,
            long fetchBytesPerSecond,
            CacheCounters counters) {
        this.name = name;
        this.store = store;
        this.origin = origin;
        this.policy = policy;
        this.latencies = latencies;
        this.planned = planned;
        this.capacityBytes = capacityBytes;
        this.counters = counters;
        periodNs = TimeUnit.MILLISECONDS.toNanos(periodMs);
        fetcher = new ChunkFetcher(name, store, origin, fetchBytesPerSecond, this::came);
        thread = Thread.ofPlatform().daemon().name(name + "-keeper").unstarted(this::run);
    }

    /** Takes over what an earlier process left in the store, and begins. */
    void start() throws IOException {
        ChunkKey after = null;
        while (true) {
            List<Map.Entry<ChunkKey, ChunkLocation>> page = store.list(after, LISTED_AT_ONCE);
            for (Map.Entry<ChunkKey, ChunkLocation> entry : page) {
                after = entry.getKey();
                adopt(after, entry.getValue());
            }
            if (page.size() < LISTED_AT_ONCE) {
                break;
            }
        }
        fetcher.start();
        thread.start();
    }

    private void adopt(ChunkKey key, ChunkLocation location) throws IOException {
        ChunkShape shape = location.shape();
        int chunks = shape.dataChunks() + shape.parityChunks();
        List<Integer> somewhere = new ArrayList<>();
        for (int chunk = 0; chunk < chunks; chunk++) {
            somewhere.add(shape.region());
        }
        ChunkLayout layout = new ChunkLayout(location.recordBytes(), shape.dataChunks(), somewhere);
        BlockKey block = new BlockKey(key.idHigh(), key.idLow());
        discard(policy.add(block, layout, 1L << key.index()));
    }

    /** A client asked for a block. Never waits. */
    void asked(CachedRequest request) {
        if (!events.offer(new Asked(request))) {
            counters.missed.increment();
        }
    }

    private void came(ChunkFetcher.Order order, Fetched fetched, List<Integer> kept) {
        try {
            events.put(new Came(order, fetched, kept));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        long periodEndNs = System.nanoTime() + periodNs;
        while (!shutdown.begun()) {
            try {
                long left = periodEndNs - System.nanoTime();
                Event event =
                        left > 0
                                ? events.poll(Math.min(left, TURN_NS), TimeUnit.NANOSECONDS)
                                : null;
                if (event != null) {
                    handle(event);
                } else if (System.nanoTime() - periodEndNs >= 0) {
                    try {
                        endPeriod();
                    } finally {
                        // A disk that fails does so each time: the next period is not now.
                        periodEndNs = System.nanoTime() + periodNs;
                    }
                }
            } catch (InterruptedException e) {
                return;
            } catch (IOException e) {
                LOG.warn("{}: {}", name, e.toString());
            } catch (RuntimeException e) {
                LOG.error("{}: something was not cached", name, e);
            }
        }
    }

    private void handle(Event event) throws IOException {
        switch (event) {
            case Asked(CachedRequest request) -> handle(request);
            case Came(ChunkFetcher.Order order, Fetched fetched, List<Integer> kept) ->
                    handle(order, fetched, kept);
        }
    }

    private void handle(CachedRequest request) throws IOException {
        ChunkShape shape = request.shape();
        BlockRef ref =
                new BlockRef(
                        request.idHigh(),
                        request.idLow(),
                        shape.blockBytes(),
                        shape.region(),
                        (byte) shape.dataChunks(),
                        (byte) shape.parityChunks(),
                        shape.epoch());
        ChunkLayout layout = layout(ref);
        if (layout == null) {
            return;
        }
        BlockKey key = new BlockKey(ref.getIdHigh(), ref.getIdLow());
        policy.asked(key, layout);
        BlockRef best = sample;
        if (best == null || best.getLength() < ref.getLength()) {
            sample = ref;
        }
        if (!layout.regions().stream().allMatch(latencies::knows)) {
            // What is worth keeping is not known before.
            long unknown = onePerRegion(layout, true);
            if (unknown != 0) {
                order(new ChunkFetcher.Order(ref, layout, 0, unknown));
            }
            return;
        }
        long wanted = policy.wanted(key, layout) & ~ordered.getOrDefault(key, 0L);
        if (wanted != 0 && order(new ChunkFetcher.Order(ref, layout, wanted, 0))) {
            ordered.merge(key, wanted, (a, b) -> a | b);
        }
    }

    /** Null: there is no such block. */
    private @Nullable ChunkLayout layout(BlockRef ref) throws IOException {
        List<Integer> regions = origin.regions(ref);
        if (regions.isEmpty()) {
            return null;
        }
        int bytes = SegmentStore.recordBytes(ChunkShape.of(ref).chunkBytes());
        return new ChunkLayout(bytes, ref.getDataChunks(), regions);
    }

    /** A chunk in each region, or only in those whose distance nobody knows or finds out. */
    private long onePerRegion(ChunkLayout layout, boolean unknownOnly) {
        long chunks = 0;
        Set<Integer> seen = new HashSet<>();
        for (int chunk = 0; chunk < layout.regions().size(); chunk++) {
            int region = layout.regions().get(chunk);
            boolean known = latencies.knows(region) || probed.contains(region);
            if (!(unknownOnly && known) && seen.add(region)) {
                chunks |= 1L << chunk;
            }
        }
        return chunks;
    }

    private boolean order(ChunkFetcher.Order order) {
        boolean taken = fetcher.order(order);
        if (!taken) {
            counters.missed.increment();
        } else {
            order.layout()
                    .regions()
                    .forEach(region -> {
                        if (order.probed() != 0) {
                            probed.add(region);
                        }
                    });
        }
        return taken;
    }

    private void handle(ChunkFetcher.Order order, Fetched fetched, List<Integer> kept)
            throws IOException {
        for (FetchedChunk chunk : fetched.chunks()) {
            latencies.observe(chunk.region(), chunk.tookNs() / 1e6);
            counters.fetchedBytes.add(chunk.bytes().length);
        }
        // A node that answers and has no such chunk, as of a deleted block, is not away.
        long away = fetched.unanswered();
        for (int chunk = 0; away >>> chunk != 0; chunk++) {
            if ((away >>> chunk & 1) == 1) {
                latencies.observe(order.layout().regions().get(chunk), AWAY_MS);
            }
        }
        if (order.probed() != 0) {
            order.layout().regions().forEach(probed::remove);
        }
        BlockKey key = new BlockKey(order.ref().getIdHigh(), order.ref().getIdLow());
        ordered.computeIfPresent(
                key, (k, mask) -> (mask & ~order.wanted()) == 0 ? null : mask & ~order.wanted());
        long came = 0;
        for (int chunk : kept) {
            came |= 1L << chunk;
        }
        if (came != 0) {
            discard(policy.add(key, order.layout(), came));
        }
    }

    private void discard(Map<BlockKey, Long> leaving) throws IOException {
        List<ChunkKey> keys = new ArrayList<>();
        leaving.forEach((block, chunks) -> {
            for (int chunk = 0; chunks >>> chunk != 0; chunk++) {
                if ((chunks >>> chunk & 1) == 1) {
                    keys.add(new ChunkKey(block.high(), block.low(), chunk));
                }
            }
        });
        if (keys.isEmpty()) {
            return;
        }
        try {
            store.discard(keys);
        } catch (IOException | UncheckedIOException e) {
            undiscarded.addAll(keys); // some may be gone
            throw e;
        }
    }

    /** What it fails at is tried again: the others, and the index's upkeep, do not wait for it. */
    private void discardDamaged(ChunkKey key) {
        try {
            store.discard(List.of(key));
        } catch (IOException | UncheckedIOException e) {
            undiscarded.add(key);
            LOG.warn("cache {}: damaged chunk {} not discarded: {}", name, key, e.getMessage());
        }
    }

    /** Each by itself, as the disk may fail at one for good. */
    private void discardAgain() {
        int stuck = 0;
        Exception last = null;
        for (ChunkKey key : List.copyOf(undiscarded)) {
            BlockKey block = new BlockKey(key.idHigh(), key.idLow());
            if ((ordered.getOrDefault(block, 0L) >>> key.index() & 1) == 1) {
                continue; // it comes again, or not: that is known next time
            }
            undiscarded.remove(key);
            if ((policy.cached(block) >>> key.index() & 1) == 1) {
                continue; // it came again
            }
            try {
                store.discard(List.of(key));
            } catch (IOException | UncheckedIOException e) {
                last = e;
                undiscarded.add(key);
                stuck++;
                if (stuck == MOST_STUCK) {
                    break;
                }
            }
        }
        if (last != null) {
            LOG.warn(
                    "{}: {} chunks that should have gone are still there: {}",
                    name,
                    undiscarded.size(),
                    last.toString());
        }
    }

    private void endPeriod() throws IOException {
        fetcher.tryAgain();
        discardAgain();
        policy.endPeriod();
        BlockRef measured = sample;
        sample = null;
        ChunkLayout layout = measured == null ? null : layout(measured);
        if (measured != null && layout != null) {
            order(new ChunkFetcher.Order(measured, layout, 0, onePerRegion(layout, false)));
        }
        for (ChunkKey damaged : List.copyOf(store.corrupt())) {
            if (undiscarded.contains(damaged)) {
                continue;
            }
            BlockKey block = new BlockKey(damaged.idHigh(), damaged.idLow());
            policy.remove(block, 1L << damaged.index());
            discardDamaged(damaged);
            counters.damaged.increment();
        }
        store.tick();
        // So that not all is lost with the power.
        store.sync();
    }

    CacheStatistics statistics() {
        return new CacheStatistics(
                capacityBytes,
                store.liveBytes(),
                store.chunks(),
                counters.requests.sum(),
                counters.partHits.sum(),
                counters.wholeHits.sum(),
                counters.servedBytes.sum(),
                counters.fetchedBytes.sum(),
                counters.missed.sum(),
                counters.damaged.sum(),
                planned.getAsLong());
    }

    @Override
    public void close() {
        fetcher.close(); // before the thread that it tells of what came
        shutdown.begin();
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
