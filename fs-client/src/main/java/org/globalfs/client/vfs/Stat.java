package org.globalfs.client.vfs;

/**
 * What stat(2) says of an inode. Times are nanoseconds since 1970; {@code allocatedBytes} is
 * st_blocks × 512; {@code rdev} as the kernel encodes it.
 */
public record Stat(
        long ino,
        int mode,
        int nlink,
        int uid,
        int gid,
        int rdev,
        long size,
        long allocatedBytes,
        long atimeNs,
        long mtimeNs,
        long ctimeNs,
        long btimeNs) {

    public static final int TYPE_MASK = 0170000;
    public static final int SOCKET = 0140000;
    public static final int SYMBOLIC_LINK = 0120000;
    public static final int REGULAR = 0100000;
    public static final int BLOCK_DEVICE = 0060000;
    public static final int DIRECTORY = 0040000;
    public static final int CHARACTER_DEVICE = 0020000;
    public static final int FIFO = 0010000;

    /** The type bits of the mode. */
    public int type() {
        return mode & TYPE_MASK;
    }

    public boolean isDirectory() {
        return type() == DIRECTORY;
    }

    /** st_blocks: allocated units of 512 bytes. */
    public long blocks() {
        return (allocatedBytes + 511) >>> 9;
    }
}
