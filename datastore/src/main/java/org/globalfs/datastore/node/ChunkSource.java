package org.globalfs.datastore.node;

import java.io.IOException;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;

/** Where a node gets the bytes of chunks that are damaged or gone: from the blocks' others. */
@FunctionalInterface
public interface ChunkSource {

    /** Of a node that has no others to ask: damage stays. */
    ChunkSource NONE =
            (key, shape) -> {
                throw new IOException("this node asks no others");
            };

    /**
     * Makes a chunk from the others of its block.
     *
     * @throws IOException they cannot be had now
     */
    byte[] chunk(ChunkKey key, ChunkShape shape) throws IOException;
}
