package org.globalfs.datastore.cache.policy;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Policies to compare with: each block has the same number of chunks in the cache, the farthest of
 * those that a read needs, or none.
 */
public final class FixedChunks implements CachePolicy {

    /** Which blocks those are. */
    public enum Choice {
        /** Those used last. */
        LRU,
        /** The most popular of the last periods, chosen anew every period. */
        LFU,
        /** As LRU, but a newcomer has to be more popular than what would go for it. */
        TINY_LFU
    }

    private final Choice choice;
    private final int chunks;
    private final RegionLatencies latencies;
    private final long capacityBytes;
    private final RequestMonitor monitor;
    private final Map<BlockKey, Long> content = new LinkedHashMap<>(16, 0.75f, true);

    /** TinyLFU: requests lately; halved now and then. */
    private final Map<BlockKey, Integer> counts = new HashMap<>();

    private int counted;
    private Set<BlockKey> chosen = Set.of();

    /**
     * @param chunks kept of each block that is in the cache
     */
    public FixedChunks(
            Choice choice,
            int chunks,
            RequestMonitor monitor,
            RegionLatencies latencies,
            long capacityBytes) {
        this.choice = choice;
        this.chunks = chunks;
        this.monitor = monitor;
        this.latencies = latencies;
        this.capacityBytes = capacityBytes;
    }

    @Override
    public long cached(BlockKey key) {
        return content.getOrDefault(key, 0L);
    }

    @Override
    public void asked(BlockKey key, ChunkLayout layout) {
        monitor.record(key, layout);
        counts.merge(key, 1, Integer::sum);
        if (++counted >= 10_000) {
            counted = 0;
            counts.replaceAll((k, count) -> count / 2);
            counts.values().removeIf(count -> count == 0);
        }
    }

    @Override
    public void read(BlockKey key, ChunkLayout layout) {
        if (content.get(key) != null) {
            return; // asking moved it to the end of the order already
        }
        long most = capacityBytes / ((long) chunks * layout.chunkBytes());
        boolean isFull = content.size() >= most;
        if (most == 0 || choice == Choice.LFU && isFull && !chosen.contains(key)) {
            return;
        }
        if (isFull && !evict(key)) {
            return;
        }
        content.put(key, farthest(layout));
    }

    private boolean evict(BlockKey newcomer) {
        Iterator<BlockKey> keys = content.keySet().iterator();
        BlockKey victim = keys.next();
        switch (choice) {
            case LRU -> keys.remove();
            case LFU -> {
                while (chosen.contains(victim)) {
                    if (!keys.hasNext()) {
                        return false;
                    }
                    victim = keys.next();
                }
                keys.remove();
            }
            case TINY_LFU -> {
                if (counts.getOrDefault(newcomer, 0) <= counts.getOrDefault(victim, 0)) {
                    return false;
                }
                keys.remove();
            }
        }
        return true;
    }

    private long farthest(ChunkLayout layout) {
        long mask = 0;
        for (CachingOption option : CachingOption.of(layout, latencies, 0)) {
            if (Long.bitCount(option.chunks()) <= chunks) {
                mask = option.chunks();
            }
        }
        return mask;
    }

    @Override
    public void endPeriod() {
        monitor.endPeriod();
        if (choice != Choice.LFU) {
            return;
        }
        List<Candidate> candidates =
                monitor.candidates().stream()
                        .sorted((a, b) -> Double.compare(b.popularity(), a.popularity()))
                        .toList();
        Set<BlockKey> best = new HashSet<>();
        for (Candidate candidate : candidates) {
            long most = capacityBytes / ((long) chunks * candidate.layout().chunkBytes());
            if (best.size() < most) {
                best.add(candidate.key());
            }
        }
        chosen = best;
    }
}
