package org.globalfs.datastore.client;

import java.io.IOException;
import java.util.List;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * Counts the different chunks that nodes have of some blocks. The blocks and every node's listing
 * are in the order of ids, so one part of each listing is gone through beside them. Of one thread.
 */
final class ChunkCount {
    private static final int MOST_LISTED = 10_000;
    private static final int LEAST_LISTED = 1_000;

    private final List<BlockRef> blocks;

    /** About what a node has between the first and the last block: more is for those behind. */
    private final int listedAtOnce;

    /** Of each block, the chunks found, a bit each. */
    private final long[] found;

    /**
     * @param blocks in the order of their ids; at least one
     */
    ChunkCount(List<BlockRef> blocks) {
        this.blocks = blocks;
        listedAtOnce = Math.clamp(2L * blocks.size(), LEAST_LISTED, MOST_LISTED);
        found = new long[blocks.size()];
        for (int i = 1; i < found.length; i++) {
            if (key(i - 1).compareTo(key(i)) >= 0) {
                throw new IllegalArgumentException(
                        blocks.get(i) + " does not come behind " + blocks.get(i - 1));
            }
        }
    }

    /** Adds what a node has. */
    void add(StorageConnection node) throws IOException {
        ChunkKey after = before(key(0));
        int block = 0;
        while (block < found.length) {
            List<StorageConnection.Listed> page = node.list(after, listedAtOnce);
            for (StorageConnection.Listed chunk : page) {
                ChunkKey first = new ChunkKey(chunk.key().idHigh(), chunk.key().idLow(), 0);
                while (block < found.length && key(block).compareTo(first) < 0) {
                    block++;
                }
                if (block < found.length && key(block).equals(first)) {
                    found[block] |= 1L << chunk.key().index();
                }
            }
            if (page.size() < listedAtOnce) {
                return;
            }
            after = page.getLast().key();
        }
    }

    int[] counts() {
        int[] counts = new int[found.length];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = Long.bitCount(found[i]);
        }
        return counts;
    }

    private ChunkKey key(int block) {
        BlockRef ref = blocks.get(block);
        return new ChunkKey(ref.getIdHigh(), ref.getIdLow(), 0);
    }

    /** What a listing begins behind, to begin with this key; null: it is the first that can be. */
    private static @Nullable ChunkKey before(ChunkKey key) {
        if (key.idLow() != 0) {
            return new ChunkKey(key.idHigh(), key.idLow() - 1, ChunkKey.MAX_CHUNKS);
        }
        return key.idHigh() == 0 ? null : new ChunkKey(key.idHigh() - 1, -1, ChunkKey.MAX_CHUNKS);
    }
}
