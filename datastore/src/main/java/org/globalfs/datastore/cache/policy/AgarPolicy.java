package org.globalfs.datastore.cache.policy;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Agar: each period a plan says what the cache keeps. What is not in the plan stays only while
 * nothing that is needs its place, least recently used first to go; so the cache is of use before
 * the first plan too, and room that the plan's blocks do not fill yet is not wasted.
 */
public final class AgarPolicy implements CachePolicy {
    /** Part of the room that one block may take unplanned. */
    private static final int LITTLE = 32;

    private final RequestMonitor monitor;
    private final CachePlanner planner;
    private final RegionLatencies latencies;
    private final double cacheMs;
    private final long capacityBytes;
    private final int mostBlocks;
    private volatile CachePlan plan = CachePlan.EMPTY;
    private long usedBytes;

    /** In order of use, the longest unused first. */
    private final Map<BlockKey, Kept> content = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * @param mostBlocks that something is kept of: each takes memory, however small it is
     */
    public AgarPolicy(
            RequestMonitor monitor,
            CachePlanner planner,
            RegionLatencies latencies,
            double cacheMs,
            long capacityBytes,
            int mostBlocks) {
        this.monitor = monitor;
        this.planner = planner;
        this.latencies = latencies;
        this.cacheMs = cacheMs;
        this.capacityBytes = capacityBytes;
        this.mostBlocks = mostBlocks;
    }

    @Override
    public long cached(BlockKey key) {
        Kept kept = content.get(key);
        return kept == null ? 0 : kept.chunks();
    }

    @Override
    public void asked(BlockKey key, ChunkLayout layout) {
        monitor.record(key, layout);
    }

    /** What the plan wants of the block; beyond that one option more, if there is room. */
    @Override
    public long wanted(BlockKey key, ChunkLayout layout) {
        long had = cached(key);
        long planned = plan.of(key) & ~had;
        boolean fits = had != 0 || content.size() < mostBlocks;
        return planned != 0 || !fits ? planned : nextOption(layout, had);
    }

    @Override
    public Map<BlockKey, Long> add(BlockKey key, ChunkLayout layout, long chunks) {
        put(key, new Kept(cached(key) | chunks, layout.chunkBytes()));
        return makeRoom(key);
    }

    @Override
    public void remove(BlockKey key, long chunks) {
        Kept kept = content.get(key);
        if (kept != null) {
            keep(key, kept, kept.chunks() & ~chunks);
        }
    }

    /**
     * More of the block, while the cache has room that nobody plans for: the lightest option beyond
     * what is there, or a heavier one that takes little of the room.
     */
    private long nextOption(ChunkLayout layout, long had) {
        long room = capacityBytes - usedBytes;
        long found = 0;
        for (CachingOption option : CachingOption.of(layout, latencies, cacheMs)) {
            long more = option.chunks() & ~had;
            long bytes = (long) Long.bitCount(more) * layout.chunkBytes();
            if (bytes <= (found == 0 ? room : room / LITTLE)) {
                found = more;
            }
        }
        return found;
    }

    private void put(BlockKey key, Kept kept) {
        Kept old = content.put(key, kept);
        usedBytes += kept.bytes() - (old == null ? 0 : old.bytes());
    }

    /** Of a block's chunks only these stay. */
    private void keep(BlockKey key, Kept kept, long chunks) {
        put(key, new Kept(chunks, kept.chunkBytes()));
        if (chunks == 0) {
            content.remove(key);
        }
    }

    private boolean isOverfull() {
        return usedBytes > capacityBytes || content.size() > mostBlocks;
    }

    /** Takes away what the plan does not want, until the rest has room. */
    private Map<BlockKey, Long> makeRoom(BlockKey spared) {
        Map<BlockKey, Long> leaving = new LinkedHashMap<>();
        Iterator<Map.Entry<BlockKey, Kept>> entries = content.entrySet().iterator();
        while (isOverfull() && entries.hasNext()) {
            Map.Entry<BlockKey, Kept> entry = entries.next();
            Kept kept = entry.getValue();
            long wanted = plan.of(entry.getKey()) & kept.chunks();
            boolean helps = wanted == 0 || usedBytes > capacityBytes;
            if (wanted == kept.chunks() || !helps || entry.getKey().equals(spared)) {
                continue;
            }
            leaving.put(entry.getKey(), kept.chunks() & ~wanted);
            usedBytes -= kept.bytes();
            if (wanted == 0) {
                entries.remove();
            } else {
                Kept less = new Kept(wanted, kept.chunkBytes());
                entry.setValue(less);
                usedBytes += less.bytes();
            }
        }
        Kept own = content.get(spared);
        if (isOverfull() && own != null) {
            // All the rest is planned, and so is there room for this block's part of the plan.
            long planned = content.size() > mostBlocks ? 0 : plan.of(spared) & own.chunks();
            leaving.put(spared, own.chunks() & ~planned);
            keep(spared, own, planned);
        }
        return leaving;
    }

    @Override
    public void endPeriod() {
        monitor.endPeriod();
        plan = planner.plan(monitor.candidates(), latencies, cacheMs, capacityBytes);
    }

    /** What the cache is to keep in this period. Any thread may ask. */
    public CachePlan plan() {
        return plan;
    }
}
