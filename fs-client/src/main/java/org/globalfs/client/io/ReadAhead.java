package org.globalfs.client.io;

/** Watches one handle's reads and says how far ahead to fetch. */
public final class ReadAhead {

    /** The kernel's own read-ahead arrives out of order within this distance. */
    private static final long SLACK_BYTES = 2L << 20;

    private static final long FIRST_WINDOW_BYTES = 2L << 20;
    private static final long MAX_WINDOW_BYTES = 16L << 20;

    private long expected;
    private long windowBytes;

    /**
     * Bytes after the end of this read that are worth fetching now; 0: the reads are not
     * sequential.
     */
    synchronized long after(long offset, long length) {
        if (expected == 0 || Math.abs(offset - expected) > SLACK_BYTES) {
            windowBytes = 0;
            expected = offset + length;
        } else {
            windowBytes =
                    windowBytes == 0
                            ? FIRST_WINDOW_BYTES
                            : Math.min(windowBytes * 2, MAX_WINDOW_BYTES);
            expected = Math.max(expected, offset + length);
        }
        return windowBytes;
    }
}
