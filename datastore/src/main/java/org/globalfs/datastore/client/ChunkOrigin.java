package org.globalfs.datastore.client;

import java.io.IOException;
import java.util.List;
import org.globalfs.protocol.wire.BlockRef;

/**
 * Where a cache gets chunks: the store that keeps the cluster's blocks, as it is behind all caches.
 * Thread-safe.
 */
public interface ChunkOrigin extends AutoCloseable {

    /**
     * Where the chunks of a block lie: the partition of each one's region, by chunk index. Empty:
     * the store cannot have such a block, as far as is known here.
     *
     * @throws IOException nobody can tell now
     */
    List<Integer> regions(BlockRef ref) throws IOException;

    /**
     * Whole chunks of a block, verified; those that cannot be had from where they belong, in the
     * time that one place may be silent, are missing. Blocks until then at most.
     *
     * @param chunks a bit by chunk index
     */
    Fetched fetch(BlockRef ref, long chunks) throws IOException;

    @Override
    void close();
}
