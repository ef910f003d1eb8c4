package org.globalfs.client.vfs;

/** Flags of open(2), the values of Linux on x86-64 and in the generic ABI where they agree. */
public final class OpenFlags {
    public static final int O_ACCMODE = 3;
    public static final int O_RDONLY = 0;
    public static final int O_WRONLY = 1;
    public static final int O_RDWR = 2;
    public static final int O_CREAT = 0100;
    public static final int O_EXCL = 0200;
    public static final int O_TRUNC = 01000;
    public static final int O_APPEND = 02000;
    public static final int O_NONBLOCK = 04000;
    public static final int O_DSYNC = 010000;
    public static final int O_SYNC = 04010000;

    /**
     * Both values that it has, of which the other one is O_DIRECTORY, with which no file is opened.
     */
    public static final int O_DIRECT = 0240000;

    /**
     * No flag of open(2), but beside them with a write: the bytes are pages that the kernel writes
     * back, whole ones of which a program wrote some bytes.
     */
    public static final int PAGES = 1 << 30;

    private OpenFlags() {}

    public static boolean reads(int flags) {
        return (flags & O_ACCMODE) != O_WRONLY;
    }

    public static boolean writes(int flags) {
        return (flags & O_ACCMODE) != O_RDONLY;
    }
}
