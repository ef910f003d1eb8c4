package org.globalfs.datastore.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.globalfs.protocol.wire.BlockRef;

/**
 * Keeps blocks: immutable, uniquely named pieces of content of up to 4 MiB. Thread-safe. Calls
 * block, each at most until its deadline; platform threads are the better callers.
 */
public interface BlockStore extends AutoCloseable {
    int MAX_BLOCK_BYTES = 4 << 20;

    /**
     * Writes a block made of the remaining bytes of `content` (which is not consumed) and returns
     * once it is durable. `region` is a partition number; 0 spreads the block over all regions.
     *
     * @throws BlockStoreException saying why, when it could not be made durable
     */
    BlockRef put(int region, ByteBuffer content) throws IOException;

    /**
     * Bytes of memory that a {@link #put} of the largest block takes, beside its content: its
     * chunks, with four to each two of parity where nothing else is known.
     */
    default int putBytes() {
        return MAX_BLOCK_BYTES / 4 * 6;
    }

    /** Reads a range of a block into an array. */
    void get(BlockRef ref, int offset, byte[] into, int at, int length) throws IOException;

    /** Reads a range of a block. */
    default ByteBuffer get(BlockRef ref, int offset, int length) throws IOException {
        byte[] bytes = new byte[length];
        get(ref, offset, bytes, 0, length);
        return ByteBuffer.wrap(bytes);
    }

    /**
     * Reads all of a block; false: too little is left of it, or it is deleted.
     *
     * @throws IOException nobody can tell now
     */
    default boolean isReadable(BlockRef block) throws IOException {
        try {
            get(block, 0, new byte[block.getLength()], 0, block.getLength());
            return true;
        } catch (BlockStoreException e) {
            if (e.reason() == BlockStoreException.Reason.LOST) {
                return false;
            }
            throw e;
        }
    }

    /** Writes a block's content once more, as {@link #put} does; the new block is as durable. */
    default BlockRef copy(BlockRef block, int region) throws IOException {
        return put(region, get(block, 0, block.getLength()));
    }

    /**
     * Deletes blocks and returns those of which no chunk is left anywhere. The others' chunks are
     * gone from every node that could be reached: try them again later. Deleting again does no
     * harm.
     */
    List<BlockRef> deleteAll(Collection<BlockRef> refs) throws IOException;

    /** Deletes a block; fails while a node that may hold a chunk of it cannot be reached. */
    default void delete(BlockRef ref) throws IOException {
        if (deleteAll(List.of(ref)).isEmpty()) {
            throw new BlockStoreException(
                    BlockStoreException.Reason.UNREACHABLE,
                    "not every node that may hold a chunk of the block is reachable");
        }
    }

    /**
     * The bytes of a block to be.
     *
     * @throws IllegalArgumentException no block has so many
     */
    static int checkedLength(ByteBuffer content) {
        int length = content.remaining();
        if (length < 1 || length > MAX_BLOCK_BYTES) {
            throw new IllegalArgumentException(
                    "a block has 1 to " + MAX_BLOCK_BYTES + " bytes, not " + length);
        }
        return length;
    }

    /**
     * Checks a range that is to be read.
     *
     * @throws IllegalArgumentException it is not within the block
     */
    static void checkRange(BlockRef ref, int offset, int length) {
        if (offset < 0 || length < 0 || offset > ref.getLength() - length) {
            throw new IllegalArgumentException(
                    "range " + offset + "+" + length + " is not within " + ref);
        }
    }

    /**
     * From now on new blocks' ids have at least this time (ms): a partition refused an older one,
     * see {@link org.globalfs.protocol.BlockIds}.
     */
    void newBlocksNotBefore(long timeMs);

    /**
     * Calls with every block of a region of which something is left on what can be reached now;
     * with some several times. What is written or deleted meanwhile may be missed.
     *
     * @throws IOException not everything could be reached, which does not keep it from calling with
     *     what was; says which did not answer
     */
    void list(int region, Consumer<BlockRef> each) throws IOException;

    /**
     * Counts the chunks that there are of blocks, without reading them: what is damaged counts, and
     * what moves meanwhile may be missed.
     *
     * @param region of all the blocks
     * @param blocks in the order of their ids
     */
    Census count(int region, List<BlockRef> blocks) throws IOException;

    /**
     * How much there is of blocks.
     *
     * @param chunks of each block, how many different ones
     * @param silent what did not answer and may have more of them, for people
     */
    record Census(int[] chunks, List<String> silent) {}

    @Override
    void close();
}
