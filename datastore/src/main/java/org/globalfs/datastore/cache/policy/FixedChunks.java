package org.globalfs.datastore.cache.policy;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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
    private final int mostBlocks;
    private final RequestMonitor monitor;
    private final Map<BlockKey, Kept> content = new LinkedHashMap<>(16, 0.75f, true);
    private long usedBytes;

    /** TinyLFU: requests lately; halved now and then. */
    private final Map<BlockKey, Integer> counts = new HashMap<>();

    private int counted;
    private Set<BlockKey> chosen = Set.of();

    /**
     * @param chunks kept of each block that is in the cache
     * @param mostBlocks that something is kept of: each takes memory, however small it is
     */
    public FixedChunks(
            Choice choice,
            int chunks,
            RequestMonitor monitor,
            RegionLatencies latencies,
            long capacityBytes,
            int mostBlocks) {
        this.choice = choice;
        this.chunks = chunks;
        this.monitor = monitor;
        this.latencies = latencies;
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
        counts.merge(key, 1, Integer::sum);
        if (++counted >= 10_000) {
            counted = 0;
            counts.replaceAll((k, count) -> count / 2);
            counts.values().removeIf(count -> count == 0);
        }
    }

    @Override
    public long wanted(BlockKey key, ChunkLayout layout) {
        Kept kept = content.get(key); // which moves it to the end of the order
        long missing = farthest(layout) & ~(kept == null ? 0 : kept.chunks());
        long bytes = (long) Long.bitCount(missing) * layout.chunkBytes();
        boolean fits =
                usedBytes + bytes <= capacityBytes && (kept != null || content.size() < mostBlocks);
        return bytes > capacityBytes || !fits && victim(key) == null ? 0 : missing;
    }

    @Override
    public Map<BlockKey, Long> add(BlockKey key, ChunkLayout layout, long chunks) {
        Map<BlockKey, Long> leaving = new LinkedHashMap<>();
        Kept old = content.remove(key);
        usedBytes -= old == null ? 0 : old.bytes();
        Kept now = new Kept(chunks | (old == null ? 0 : old.chunks()), layout.chunkBytes());
        while (usedBytes + now.bytes() > capacityBytes || content.size() >= mostBlocks) {
            BlockKey victim = victim(key);
            Kept evicted = victim == null ? null : content.remove(victim);
            if (victim == null || evicted == null) {
                leaving.put(key, now.chunks());
                return leaving;
            }
            usedBytes -= evicted.bytes();
            leaving.put(victim, evicted.chunks());
        }
        content.put(key, now);
        usedBytes += now.bytes();
        return leaving;
    }

    @Override
    public void remove(BlockKey key, long chunks) {
        Kept kept = content.remove(key);
        if (kept != null) {
            usedBytes -= kept.bytes();
            Kept less = new Kept(kept.chunks() & ~chunks, kept.chunkBytes());
            if (less.chunks() != 0) {
                content.put(key, less);
                usedBytes += less.bytes();
            }
        }
    }

    /** The block that goes next, null if none does for the newcomer. */
    private @Nullable BlockKey victim(BlockKey newcomer) {
        for (BlockKey key : content.keySet()) {
            boolean goes =
                    switch (choice) {
                        case LRU -> true;
                        case LFU -> chosen.contains(newcomer) && !chosen.contains(key);
                        case TINY_LFU ->
                                counts.getOrDefault(newcomer, 0) > counts.getOrDefault(key, 0);
                    };
            if (goes && !key.equals(newcomer)) {
                return key;
            }
            if (choice == Choice.TINY_LFU) {
                return null; // it has to be better than the one that is next to go
            }
        }
        return null;
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
        long room = capacityBytes;
        for (Candidate candidate : candidates) {
            ChunkLayout layout = candidate.layout();
            long bytes = (long) Long.bitCount(farthest(layout)) * layout.chunkBytes();
            if (bytes <= room) {
                best.add(candidate.key());
                room -= bytes;
            }
        }
        chosen = best;
    }
}
