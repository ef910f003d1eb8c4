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
 * @param scrubPeriodMs the time in which it is to read all its chunks; 0: it does not by itself, or
 *     does not say
 * @param scrubBytesPerSecond reads at most for that
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
        long missingChunks,
        long scrubPeriodMs,
        long scrubBytesPerSecond) {
    public static final int BYTES = 89;
    private static final int BYTES_BEFORE_SCRUB = 73;

    public void write(ByteBuffer to) {
        to.putLong(capacityBytes).putLong(usedBytes).putLong(liveBytes).putLong(chunks);
        to.putLong(handoffChunks).putLong(corruptChunks).putLong(segments);
        to.put((byte) (writable ? 1 : 0));
        to.putLong(misplacedChunks).putLong(missingChunks);
        to.putLong(scrubPeriodMs).putLong(scrubBytesPerSecond);
    }

    /** A node of an earlier version says less. */
    public static NodeStatistics read(ByteBuffer from) {
        boolean all = from.remaining() >= BYTES;
        boolean most = from.remaining() >= BYTES_BEFORE_SCRUB;
        return new NodeStatistics(
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.getLong(),
                from.get() != 0,
                most ? from.getLong() : 0,
                most ? from.getLong() : 0,
                all ? from.getLong() : 0,
                all ? from.getLong() : 0);
    }

    /** How fast it would have to read to be through with its chunks in a period; 0: it need not. */
    public long neededScrubBytesPerSecond() {
        return scrubPeriodMs == 0 ? 0 : (long) Math.ceil(liveBytes * 1e3 / scrubPeriodMs);
    }

    /** Whether it cannot be. */
    public boolean isScrubLate() {
        return neededScrubBytesPerSecond() > scrubBytesPerSecond;
    }
}
