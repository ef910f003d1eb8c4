package org.globalfs.datastore.node;

import java.util.HashSet;
import java.util.Set;
import org.globalfs.datastore.wire.ChunkKey;
import org.jspecify.annotations.Nullable;

/**
 * Marks of the chunks that another node is being given, see {@link ChunkMove}: one that is put here
 * again leaves no more. Its monitor guards the marks, and that a chunk's mark and place change
 * together; it is taken after the store's index lock.
 */
final class LeavingChunks {
    private final ChunkTable table;
    private final Set<ChunkKey> marked = new HashSet<>();

    LeavingChunks(ChunkTable table) {
        this.table = table;
    }

    /** Another node is about to be asked whether it keeps the chunk. */
    synchronized void leaves(ChunkKey key) {
        marked.add(key);
    }

    /** It does not, or nobody knows. */
    synchronized void stays(ChunkKey key) {
        marked.remove(key);
    }

    /** Whether the chunk is here, and not leaving. */
    synchronized boolean keeps(ChunkKey key) {
        return table.has(key) && !marked.contains(key);
    }

    /** Whether the chunk need not be written; it stays then, wherever it was about to go. */
    synchronized boolean staysIfThere(ChunkKey key, int bytes) {
        ChunkLocation old = table.location(key);
        boolean there = old != null && old.dataBytes() == bytes && !table.corrupt().contains(key);
        if (there) {
            marked.remove(key);
        }
        return there;
    }

    /** As {@link ChunkTable#replace}; the chunk stays. */
    synchronized @Nullable ChunkLocation replace(ChunkKey key, ChunkLocation location) {
        ChunkLocation old = table.replace(key, location);
        marked.remove(key);
        return old;
    }

    /** As {@link ChunkTable#remove}, unless the chunk stays: null then, too. */
    synchronized @Nullable ChunkLocation left(ChunkKey key) {
        return marked.remove(key) ? table.remove(key) : null;
    }
}
