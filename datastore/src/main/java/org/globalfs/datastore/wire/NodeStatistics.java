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
 */
public record NodeStatistics(
        long capacityBytes,
        long usedBytes,
        long liveBytes,
        long chunks,
        long handoffChunks,
        long corruptChunks,
        long segments,
        boolean writable) {
    public static final int BYTES = 57;

    public void write(ByteBuffer to) {
        to.putLong(capacityBytes).putLong(usedBytes).putLong(liveBytes).putLong(chunks);
        to.putLong(handoffChunks).putLong(corruptChunks).putLong(segments);
        to.put((byte) (writable ? 1 : 0));
    }

    public static NodeStatistics read(ByteBuffer from) {
        return new NodeStatistics(
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.get() != 0);
    }
}
