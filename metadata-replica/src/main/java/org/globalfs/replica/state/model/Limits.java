package org.globalfs.replica.state.model;

import org.globalfs.protocol.config.ClientConfig;

/** Limits of the file system that users can meet; docs name them. */
public final class Limits {

    public static final int NAME_MAX = 255;

    /** Longest symlink target, as Linux's PATH_MAX without the terminating zero. */
    public static final int SYMLINK_MAX = 4095;

    public static final int LINK_MAX = 65_000;

    /** 1 EiB. */
    public static final long FILE_SIZE_MAX = 1L << 60;

    /** Bytes that may be allocated in a partition, written or not: 4 EiB. */
    public static final long BYTES_MAX = 1L << 62;

    /** Bytes that one extent may hold itself. */
    public static final int INLINE_MAX = ClientConfig.INLINE_MAX_BYTES;

    /** Bytes up to which adjacent extents that hold their bytes themselves are joined. */
    public static final int JOINED_MAX = 16 << 10;

    /** An extended attribute's value. */
    public static final int XATTR_VALUE_MAX = 64 << 10;

    /** All names of an inode's extended attributes, each with one more byte. */
    public static final int XATTR_NAMES_MAX = (64 << 10) - 64;

    /** All values of an inode's extended attributes. */
    public static final int XATTR_VALUES_MAX = 1 << 20;

    /** An access control list: 511 entries. Linux hands a larger one neither in nor out. */
    public static final int ACL_MAX = 4 << 10;

    public static final int BLOCK_MAX = 4 << 20;

    /** Locks held on one inode. */
    public static final int LOCKS_OF_INODE = 8192;

    /** Locks held and waited for by one session in a partition. */
    public static final int LOCKS_OF_SESSION = 65_536;

    /** Longest lease of a session: 10 minutes. */
    public static final int LEASE_MAX_MS = 600_000;

    private Limits() {}
}
