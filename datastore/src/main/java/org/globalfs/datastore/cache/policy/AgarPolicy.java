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
    private CachePlan plan = CachePlan.EMPTY;
    private long usedBytes;

    private record Kept(long chunks, int chunkBytes) {
        long bytes() {
            return (long) Long.bitCount(chunks) * chunkBytes;
        }
    }

    /** In order of use, the longest unused first. */
    private final Map<BlockKey, Kept> content = new LinkedHashMap<>(16, 0.75f, true);

    public AgarPolicy(
            RequestMonitor monitor,
            CachePlanner planner,
            RegionLatencies latencies,
            double cacheMs,
            long capacityBytes) {
        this.monitor = monitor;
        this.planner = planner;
        this.latencies = latencies;
        this.cacheMs = cacheMs;
        this.capacityBytes = capacityBytes;
    }

    @Override
    public long cached(BlockKey key) {
        Kept kept = content.get(key);
        return kept == null ? 0 : kept.chunks;
    }

    @Override
    public void asked(BlockKey key, ChunkLayout layout) {
        monitor.record(key, layout);
    }

    /**
     * What the plan wants of the block; beyond that one option more each time, if there is room.
     */
    @Override
    public void read(BlockKey key, ChunkLayout layout) {
        Kept old = content.get(key);
        long had = old == null ? 0 : old.chunks;
        long planned = plan.of(key);
        long chunks = planned | had;
        if ((planned & ~had) == 0) {
            chunks = had | nextOption(layout, had);
        }
        if (chunks == had) {
            return;
        }
        Kept now = new Kept(chunks, layout.chunkBytes());
        put(key, now);
        makeRoom(key);
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

    /** Takes away what the plan does not want, until the rest has room. */
    private void makeRoom(BlockKey spared) {
        Iterator<Map.Entry<BlockKey, Kept>> entries = content.entrySet().iterator();
        while (usedBytes > capacityBytes && entries.hasNext()) {
            Map.Entry<BlockKey, Kept> entry = entries.next();
            Kept kept = entry.getValue();
            long wanted = plan.of(entry.getKey()) & kept.chunks;
            if (wanted == kept.chunks || entry.getKey().equals(spared)) {
                continue;
            }
            usedBytes -= kept.bytes();
            if (wanted == 0) {
                entries.remove();
            } else {
                Kept less = new Kept(wanted, kept.chunkBytes);
                entry.setValue(less);
                usedBytes += less.bytes();
            }
        }
        Kept own = content.get(spared);
        if (usedBytes > capacityBytes && own != null) {
            // All the rest is planned, and so is there room for this block's part of the plan.
            Kept planned = new Kept(plan.of(spared) & own.chunks, own.chunkBytes);
            put(spared, planned);
            if (planned.chunks == 0) {
                content.remove(spared);
            }
        }
    }

    @Override
    public void endPeriod() {
        monitor.endPeriod();
        plan = planner.plan(monitor.candidates(), latencies, cacheMs, capacityBytes);
    }

    /** What the cache is to keep in this period. */
    public CachePlan plan() {
        return plan;
    }

    /** What it keeps, in bytes. */
    public long usedBytes() {
        return usedBytes;
    }
}
