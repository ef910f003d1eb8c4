package org.globalfs.datastore.node;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.globalfs.datastore.wire.ChunkKey;
import org.jspecify.annotations.Nullable;

/**
 * Marks of the chunks that another node is being given, see {@link ChunkMove}: one that is put here
 * again leaves no more. Each move has its own: several threads may give the same chunk away, and a
 * put ends the marks that there are, not those that come later. Its monitor guards the marks, and
 * that a chunk's marks and place change together; it is taken after the store's index lock.
 */
final class LeavingChunks {
    private final ChunkTable table;
    private final Map<ChunkKey, Set<Long>> marks = new HashMap<>();
    private long lastMark;

    LeavingChunks(ChunkTable table) {
        this.table = table;
    }

    /** Another node is about to be asked whether it keeps the chunk; returns the move's mark. */
    synchronized long leaves(ChunkKey key) {
        lastMark++;
        marks.computeIfAbsent(key, k -> new HashSet<>()).add(lastMark);
        return lastMark;
    }

    /** It does not, or nobody knows. */
    synchronized void stays(ChunkKey key, long mark) {
        marks.computeIfPresent(
                key,
                (k, own) -> {
                    own.remove(mark);
                    return own.isEmpty() ? null : own;
                });
    }

    /** Whether the chunk is here, and not leaving. */
    synchronized boolean keeps(ChunkKey key) {
        return table.has(key) && !marks.containsKey(key);
    }

    /** Whether the chunk need not be written; it stays then, wherever it was about to go. */
    synchronized boolean staysIfThere(ChunkKey key, int bytes) {
        ChunkLocation old = table.location(key);
        boolean there = old != null && old.dataBytes() == bytes && !table.corrupt().contains(key);
        if (there) {
            marks.remove(key);
        }
        return there;
    }

    /** As {@link ChunkTable#replace}; the chunk stays. */
    synchronized @Nullable ChunkLocation replace(ChunkKey key, ChunkLocation location) {
        ChunkLocation old = table.replace(key, location);
        marks.remove(key);
        return old;
    }

    /** As {@link ChunkTable#remove}, unless the chunk has come to stay: null then, too. */
    synchronized @Nullable ChunkLocation left(ChunkKey key, long mark) {
        if (!marks.getOrDefault(key, Set.of()).contains(mark)) {
            return null;
        }
        marks.remove(key);
        return table.remove(key);
    }
}
