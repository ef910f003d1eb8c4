package org.globalfs.datastore.node;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;

/**
 * Blocks whose making is put off: those first that can lose fewest chunks more, and of these in the
 * order in which they came; each with the time from which on it is no longer too young. That is
 * settled when it comes: an id that is ahead of this node's clock makes a block young whenever it
 * is asked. Times are of System.nanoTime. For one thread.
 */
final class LaterBlocks {
    private final int most;

    /** By how many chunks more each can lose; none is empty. */
    private final TreeMap<Integer, Deque<Entry>> byRisk = new TreeMap<>();

    private int size;
    private boolean drops;

    private record Entry(ChunkKey block, ChunkShape shape, long readyNs) {}

    /**
     * @param most so many are kept; then those go that can lose most, and {@link #drops} says so
     */
    LaterBlocks(int most) {
        this.most = most;
    }

    /**
     * @param spare how many chunks more it can lose
     * @param youngForMs how long it is too young from now on; 0: it is not
     * @return false: there is no room, and all others can lose no more than this one
     */
    boolean add(ChunkKey block, ChunkShape shape, int spare, long youngForMs, long nowNs) {
        if (isFull()) {
            drops = true;
            if (size == 0 || byRisk.lastKey() <= spare) {
                return false;
            }
            Deque<Entry> safest = byRisk.lastEntry().getValue();
            safest.removeLast();
            ended(byRisk.lastKey(), safest);
        }
        long readyNs = nowNs + TimeUnit.MILLISECONDS.toNanos(youngForMs);
        byRisk.computeIfAbsent(spare, s -> new ArrayDeque<>())
                .add(new Entry(block, shape, readyNs));
        size++;
        return true;
    }

    /** Whether it takes another one only in the place of one that can lose more, or not at all. */
    boolean isFull() {
        return size == most;
    }

    private void ended(int spare, Deque<Entry> entries) {
        size--;
        if (entries.isEmpty()) {
            byRisk.remove(spare);
        }
    }

    /** Those that are left are to be looked for again, with all others. */
    void clear() {
        byRisk.clear();
        size = 0;
        drops = false;
    }

    /** Whether there was no room for some, which has to be looked for again. */
    boolean drops() {
        return drops;
    }

    int size() {
        return size;
    }

    /** How long to wait until those that come next are all old enough; or less than 0. */
    long waitNs(int most, long nowNs) {
        return byRisk.isEmpty()
                ? 0
                : byRisk.firstEntry().getValue().stream()
                        .limit(most)
                        .mapToLong(e -> e.readyNs - nowNs)
                        .max()
                        .orElse(0);
    }

    /** Takes the first ones, up to so many; all can lose as many chunks more. */
    Map<ChunkKey, ChunkShape> take(int most) {
        Map<ChunkKey, ChunkShape> blocks = new LinkedHashMap<>();
        if (!byRisk.isEmpty()) {
            int spare = byRisk.firstKey();
            Deque<Entry> entries = byRisk.firstEntry().getValue();
            while (blocks.size() < most && !entries.isEmpty()) {
                Entry entry = entries.remove();
                ended(spare, entries);
                blocks.put(entry.block, entry.shape);
            }
        }
        return blocks;
    }
}
