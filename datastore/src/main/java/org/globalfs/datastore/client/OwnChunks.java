package org.globalfs.datastore.client;

import java.io.IOException;
import org.globalfs.datastore.wire.ChunkKey;

/** The chunks of a storage node of the reader's own process, which need no connection. */
public interface OwnChunks {

    /** The node's id. */
    String node();

    /**
     * Reads a range of a chunk into an array.
     *
     * @return false: the node has to be asked, as any other
     */
    boolean read(ChunkKey key, int offset, int length, byte[] into, int at) throws IOException;
}
