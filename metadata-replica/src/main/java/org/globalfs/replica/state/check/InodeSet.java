package org.globalfs.replica.state.check;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/** Inode numbers, a bit each: they are given out one after another. */
final class InodeSet {
    private static final int CHUNK_BITS = 16;

    private final Map<Long, BitSet> chunks = new HashMap<>();

    /** False: it was there. */
    boolean add(long ino) {
        BitSet chunk = chunks.computeIfAbsent(ino >>> CHUNK_BITS, high -> new BitSet());
        int low = (int) ino & (1 << CHUNK_BITS) - 1;
        boolean was = chunk.get(low);
        chunk.set(low);
        return !was;
    }

    boolean contains(long ino) {
        BitSet chunk = chunks.get(ino >>> CHUNK_BITS);
        return chunk != null && chunk.get((int) ino & (1 << CHUNK_BITS) - 1);
    }
}
