package org.globalfs.replica.service;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.s3.BlockOwner;
import org.globalfs.datastore.s3.BucketUpkeep;
import org.globalfs.protocol.wire.BlockRef;

/** The datastore, as far as the replica uses it. */
@FunctionalInterface
public interface Datastore {

    /**
     * Deletes the content of blocks and returns those of which nothing is left; one that is gone
     * already is no error. The others, or all after an exception, are to be tried again later.
     */
    List<BlockRef> delete(List<BlockRef> blocks) throws IOException;

    /**
     * Calls with every block of a partition of which something is left, as far as that can be seen
     * now; with some several times. One that does not look finds none.
     *
     * @throws IOException not all could be seen; those that could were called with
     */
    default void list(int partition, Consumer<BlockRef> each) throws IOException {}

    /**
     * Counts the chunks that there are of a partition's blocks, see {@link BlockStore#count}.
     *
     * @param blocks in the order of their ids
     */
    default BlockStore.Census count(int partition, List<BlockRef> blocks) throws IOException {
        throw new IOException("this replica has no datastore to look for blocks in");
    }

    /**
     * Reads all of a block; false: too little is left of it.
     *
     * @throws IOException nobody can tell now
     */
    default boolean isReadable(BlockRef block) throws IOException {
        throw new IOException("this replica has no datastore to read blocks from");
    }

    /**
     * Begins to look after what a partition has in buckets; empty: the content is not in buckets,
     * or looked after by others.
     */
    default Optional<BucketUpkeep> lookAfter(int partition, BlockOwner owner) throws IOException {
        return Optional.empty();
    }

    /** Blocks stored from now on have ids of at least this time (ms). */
    default void newBlocksNotBefore(long timeMs) {}

    /** Stores a block's content once more, in another region; returns the new block. */
    default BlockRef copy(BlockRef block, int region) throws IOException {
        throw new IOException("this replica has no datastore to copy blocks with");
    }
}
