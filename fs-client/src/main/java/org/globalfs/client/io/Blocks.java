package org.globalfs.client.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.globalfs.protocol.wire.BlockRef;

/** The datastore as this package needs it. */
public interface Blocks {

    /**
     * Stores an immutable block in a region (0: spread over all) and returns once it is durable.
     */
    BlockRef put(int region, ByteBuffer content) throws IOException;

    ByteBuffer get(BlockRef ref, int offset, int length) throws IOException;

    void delete(BlockRef ref) throws IOException;
}
