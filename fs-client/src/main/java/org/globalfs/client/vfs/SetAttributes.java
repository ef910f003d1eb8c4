package org.globalfs.client.vfs;

/**
 * A change of attributes: {@code set} says which of the others count. {@code handle} is the open
 * file that it comes through, or {@link FileSystem#NO_HANDLE}. ATIME_NOW and MTIME_NOW come with
 * ATIME and MTIME and say that the values are the time of execution.
 */
public record SetAttributes(
        int set, int mode, int uid, int gid, long size, long atimeNs, long mtimeNs, long handle) {
    public static final int MODE = 1;
    public static final int UID = 1 << 1;
    public static final int GID = 1 << 2;
    public static final int SIZE = 1 << 3;
    public static final int ATIME = 1 << 4;
    public static final int MTIME = 1 << 5;
    public static final int ATIME_NOW = 1 << 7;
    public static final int MTIME_NOW = 1 << 8;

    private static final long NS = 1_000_000_000L;

    /**
     * Nanoseconds since 1970 of a request's two fields; what 64 bits cannot hold (before 1678,
     * after 2261) becomes the nearest that they can.
     */
    public static long time(long seconds, int nanoseconds) {
        long furthest = Long.MAX_VALUE / NS - 1;
        long bounded = Math.max(-furthest, Math.min(furthest, seconds));
        return bounded * NS + (bounded == seconds ? Math.min(NS - 1, Math.max(0, nanoseconds)) : 0);
    }

    /** Whether any of these flags is set. */
    public boolean has(int flags) {
        return (set & flags) != 0;
    }
}
