package org.globalfs.datastore.node;

import java.io.IOException;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;

/** Where a node gets a chunk's bytes from when its own copy is damaged. Thread-safe. */
@FunctionalInterface
public interface ChunkSource {

    /**
     * The chunk's bytes, made from the block's other chunks.
     *
     * @throws IOException too few of them can be had now, or at all; says which
     */
    byte[] chunk(ChunkKey key, ChunkShape shape) throws IOException;
}
