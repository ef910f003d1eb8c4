package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;

/**
 * What a storage node says of itself.
 *
 * @param capacityBytes the most that `usedBytes` may become
 * @param usedBytes disk space taken by chunks, deleted ones not yet given back included
 * @param liveBytes bytes of chunks that can be read
 * @param handoffChunks chunks kept for another node that was down
 * @param writable false once the disk failed
 * @param misplacedChunks held here, belonging elsewhere by the newest placement epoch, and not to
 *     be moved yet
 * @param missingChunks that this node is to make anew, and could not yet
 */
public record NodeStatistics(
        long capacityBytes,
        long usedBytes,
        long liveBytes,
        long chunks,
        long handoffChunks,
        long corruptChunks,
        long segments,
        boolean writable,
        long misplacedChunks,
        long missingChunks) {
    public static final int BYTES = 73;

    public void write(ByteBuffer to) {
        to.putLong(capacityBytes).putLong(usedBytes).putLong(liveBytes).putLong(chunks);
        to.putLong(handoffChunks).putLong(corruptChunks).putLong(segments);
        to.put((byte) (writable ? 1 : 0));
        to.putLong(misplacedChunks).putLong(missingChunks);
    }

    /** A node of an earlier version says less. */
    public static NodeStatistics read(ByteBuffer from) {
        boolean all = from.remaining() >= BYTES;
        return new NodeStatistics(
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.get() != 0,
                all ? from.getLong() : 0,
                all ? from.getLong() : 0);
    }
}
