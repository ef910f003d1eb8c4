package org.globalfs.datastore.node;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;

/**
 * Blocks whose making is put off, in the order in which they came, each with the time from which on
 * it is no longer too young. That is settled when it comes: an id that is ahead of this node's
 * clock makes a block young whenever it is asked. Times are of System.nanoTime. For one thread.
 */
final class LaterBlocks {

    private record Entry(ChunkKey block, ChunkShape shape, long readyNs) {}

    private final Queue<Entry> entries = new ArrayDeque<>();

    /**
     * @param youngForMs how long it is too young from now on; 0: it is not
     */
    void add(ChunkKey block, ChunkShape shape, long youngForMs, long nowNs) {
        long readyNs = nowNs + TimeUnit.MILLISECONDS.toNanos(youngForMs);
        entries.add(new Entry(block, shape, readyNs));
    }

    int size() {
        return entries.size();
    }

    /** How long to wait until the first ones, up to so many, are all old enough; or less than 0. */
    long waitNs(int most, long nowNs) {
        return entries.stream().limit(most).mapToLong(e -> e.readyNs - nowNs).max().orElse(0);
    }

    /** Takes the first ones, up to so many. */
    Map<ChunkKey, ChunkShape> take(int most) {
        Map<ChunkKey, ChunkShape> blocks = new LinkedHashMap<>();
        while (blocks.size() < most && !entries.isEmpty()) {
            Entry entry = entries.remove();
            blocks.put(entry.block, entry.shape);
        }
        return blocks;
    }
}
