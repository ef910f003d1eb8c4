package org.globalfs.client.fuse;

/**
 * Flag bits and codes of the protocol, named as in {@code linux/fuse.h} without the prefix {@code
 * FUSE_}.
 */
final class FuseFlags {
    static final int MAJOR = 7;

    /**
     * The oldest minor version spoken: the first of Linux 5.x with everything that is relied on.
     */
    static final int OLDEST_MINOR = 31;

    /** The newest minor version whose structures are known here. */
    static final int NEWEST_MINOR = 45;

    // INIT
    static final long ASYNC_READ = 1;
    static final long POSIX_LOCKS = 1 << 1;
    static final long ATOMIC_O_TRUNC = 1 << 3;
    static final long EXPORT_SUPPORT = 1 << 4;
    static final long BIG_WRITES = 1 << 5;
    static final long DONT_MASK = 1 << 6;
    static final long FLOCK_LOCKS = 1 << 10;
    static final long AUTO_INVAL_DATA = 1 << 12;
    static final long DO_READDIRPLUS = 1 << 13;
    static final long READDIRPLUS_AUTO = 1 << 14;
    static final long PARALLEL_DIROPS = 1 << 18;
    static final long HANDLE_KILLPRIV = 1 << 19;
    static final long POSIX_ACL = 1 << 20;
    static final long ABORT_ERROR = 1 << 21;
    static final long MAX_PAGES = 1 << 22;
    static final long CACHE_SYMLINKS = 1 << 23;
    static final long EXPLICIT_INVAL_DATA = 1 << 25;
    static final long HANDLE_KILLPRIV_V2 = 1 << 28;
    static final long INIT_EXT = 1 << 30;
    static final long HAS_EXPIRE_ONLY = 1L << 35;
    static final long DIRECT_IO_ALLOW_MMAP = 1L << 36;

    // GETATTR, SETATTR
    static final int GETATTR_FH = 1;
    static final int FATTR_MODE = 1;
    static final int FATTR_UID = 1 << 1;
    static final int FATTR_GID = 1 << 2;
    static final int FATTR_SIZE = 1 << 3;
    static final int FATTR_ATIME = 1 << 4;
    static final int FATTR_MTIME = 1 << 5;
    static final int FATTR_FH = 1 << 6;
    static final int FATTR_ATIME_NOW = 1 << 7;
    static final int FATTR_MTIME_NOW = 1 << 8;

    // OPEN
    static final int FOPEN_DIRECT_IO = 1;
    static final int FOPEN_KEEP_CACHE = 1 << 1;
    static final int FOPEN_CACHE_DIR = 1 << 3;
    static final int FOPEN_NOFLUSH = 1 << 5;

    static final int FSYNC_FDATASYNC = 1;
    static final int LK_FLOCK = 1;

    // notifications
    static final int NOTIFY_INVAL_INODE = 2;
    static final int NOTIFY_INVAL_ENTRY = 3;
    static final int NOTIFY_STORE = 4;
    static final int NOTIFY_DELETE = 6;
    static final int NOTIFY_INC_EPOCH = 8;
    static final int EXPIRE_ONLY = 1;

    /**
     * The bit that tells the number of an interrupt from that of the request that it interrupts.
     */
    static final long INT_REQ_BIT = 1;

    /** {@code _IOR(229, 0, uint32_t)}. */
    static final long DEV_IOC_CLONE = 0x8004e500L;

    // statx(2)
    static final int STATX_BASIC_STATS = 0x7ff;
    static final int STATX_BTIME = 0x800;

    /** Of WRITE: the kernel writes pages back. */
    static final int WRITE_CACHE = 1;

    private FuseFlags() {}
}
