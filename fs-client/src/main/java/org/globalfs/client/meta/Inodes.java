package org.globalfs.client.meta;

/** What an inode number says. */
public final class Inodes {

    private Inodes() {}

    /** The partition that the inode was born in, and lives in. */
    public static int partition(long ino) {
        return (int) (ino >>> 48);
    }
}
