package org.globalfs.client.fuse;

/**
 * Byte offsets of the fields of the kernel's structures, named as in {@code linux/fuse.h}: class
 * {@code EntryOut} is {@code struct fuse_entry_out}, constant {@code NODEID} its field {@code
 * nodeid}, and {@code SIZE_OF} the whole structure's size. Those since protocol 7.39 come last.
 */
final class FuseLayout {
    private FuseLayout() {}

    /** struct fuse_in_header. */
    static final class InHeader {
        static final int LEN = 0;
        static final int OPCODE = 4;
        static final int UNIQUE = 8;
        static final int NODEID = 16;
        static final int UID = 24;
        static final int GID = 28;
        static final int PID = 32;
        static final int TOTAL_EXTLEN = 36;
        static final int SIZE_OF = 40;

        private InHeader() {}
    }

    /** struct fuse_out_header. */
    static final class OutHeader {
        static final int LEN = 0;
        static final int ERROR = 4;
        static final int UNIQUE = 8;
        static final int SIZE_OF = 16;

        private OutHeader() {}
    }

    /** struct fuse_attr. */
    static final class Attr {
        static final int INO = 0;
        static final int SIZE = 8;
        static final int BLOCKS = 16;
        static final int ATIME = 24;
        static final int MTIME = 32;
        static final int CTIME = 40;
        static final int ATIMENSEC = 48;
        static final int MTIMENSEC = 52;
        static final int CTIMENSEC = 56;
        static final int MODE = 60;
        static final int NLINK = 64;
        static final int UID = 68;
        static final int GID = 72;
        static final int RDEV = 76;
        static final int BLKSIZE = 80;
        static final int FLAGS = 84;
        static final int SIZE_OF = 88;

        private Attr() {}
    }

    /** struct fuse_entry_out. */
    static final class EntryOut {
        static final int NODEID = 0;
        static final int GENERATION = 8;
        static final int ENTRY_VALID = 16;
        static final int ATTR_VALID = 24;
        static final int ENTRY_VALID_NSEC = 32;
        static final int ATTR_VALID_NSEC = 36;
        static final int ATTR = 40;
        static final int SIZE_OF = 128;

        private EntryOut() {}
    }

    /** struct fuse_attr_out. */
    static final class AttrOut {
        static final int ATTR_VALID = 0;
        static final int ATTR_VALID_NSEC = 8;
        static final int ATTR = 16;
        static final int SIZE_OF = 104;

        private AttrOut() {}
    }

    /** struct fuse_init_in. */
    static final class InitIn {
        static final int MAJOR = 0;
        static final int MINOR = 4;
        static final int MAX_READAHEAD = 8;
        static final int FLAGS = 12;
        static final int FLAGS2 = 16;
        static final int SIZE_OF = 64;

        private InitIn() {}
    }

    /** struct fuse_init_out. */
    static final class InitOut {
        static final int MAJOR = 0;
        static final int MINOR = 4;
        static final int MAX_READAHEAD = 8;
        static final int FLAGS = 12;
        static final int MAX_BACKGROUND = 16;
        static final int CONGESTION_THRESHOLD = 18;
        static final int MAX_WRITE = 20;
        static final int TIME_GRAN = 24;
        static final int MAX_PAGES = 28;
        static final int MAP_ALIGNMENT = 30;
        static final int FLAGS2 = 32;
        static final int SIZE_OF = 64;

        private InitOut() {}
    }

    /** struct fuse_forget_in. */
    static final class ForgetIn {
        static final int NLOOKUP = 0;
        static final int SIZE_OF = 8;

        private ForgetIn() {}
    }

    /** struct fuse_forget_one. */
    static final class ForgetOne {
        static final int NODEID = 0;
        static final int NLOOKUP = 8;
        static final int SIZE_OF = 16;

        private ForgetOne() {}
    }

    /** struct fuse_batch_forget_in. */
    static final class BatchForgetIn {
        static final int COUNT = 0;
        static final int SIZE_OF = 8;

        private BatchForgetIn() {}
    }

    /** struct fuse_getattr_in. */
    static final class GetattrIn {
        static final int GETATTR_FLAGS = 0;
        static final int FH = 8;
        static final int SIZE_OF = 16;

        private GetattrIn() {}
    }

    /** struct fuse_setattr_in. */
    static final class SetattrIn {
        static final int VALID = 0;
        static final int FH = 8;
        static final int SIZE = 16;
        static final int LOCK_OWNER = 24;
        static final int ATIME = 32;
        static final int MTIME = 40;
        static final int CTIME = 48;
        static final int ATIMENSEC = 56;
        static final int MTIMENSEC = 60;
        static final int CTIMENSEC = 64;
        static final int MODE = 68;
        static final int UID = 76;
        static final int GID = 80;
        static final int SIZE_OF = 88;

        private SetattrIn() {}
    }

    /** struct fuse_mknod_in. */
    static final class MknodIn {
        static final int MODE = 0;
        static final int RDEV = 4;
        static final int UMASK = 8;
        static final int SIZE_OF = 16;

        private MknodIn() {}
    }

    /** struct fuse_mkdir_in. */
    static final class MkdirIn {
        static final int MODE = 0;
        static final int UMASK = 4;
        static final int SIZE_OF = 8;

        private MkdirIn() {}
    }

    /** struct fuse_setxattr_in; without SETXATTR_EXT the name begins at SETXATTR_FLAGS. */
    static final class SetxattrIn {
        static final int SIZE = 0;
        static final int FLAGS = 4;
        static final int SETXATTR_FLAGS = 8;
        static final int SIZE_OF = 16;

        private SetxattrIn() {}
    }

    /** struct fuse_getxattr_in. */
    static final class GetxattrIn {
        static final int SIZE = 0;
        static final int SIZE_OF = 8;

        private GetxattrIn() {}
    }

    /** struct fuse_getxattr_out. */
    static final class GetxattrOut {
        static final int SIZE = 0;
        static final int SIZE_OF = 8;

        private GetxattrOut() {}
    }

    /** struct fuse_rename_in. */
    static final class RenameIn {
        static final int NEWDIR = 0;
        static final int SIZE_OF = 8;

        private RenameIn() {}
    }

    /** struct fuse_rename2_in. */
    static final class Rename2In {
        static final int NEWDIR = 0;
        static final int FLAGS = 8;
        static final int SIZE_OF = 16;

        private Rename2In() {}
    }

    /** struct fuse_link_in. */
    static final class LinkIn {
        static final int OLDNODEID = 0;
        static final int SIZE_OF = 8;

        private LinkIn() {}
    }

    /** struct fuse_open_in. */
    static final class OpenIn {
        static final int FLAGS = 0;
        static final int OPEN_FLAGS = 4;
        static final int SIZE_OF = 8;

        private OpenIn() {}
    }

    /** struct fuse_create_in. */
    static final class CreateIn {
        static final int FLAGS = 0;
        static final int MODE = 4;
        static final int UMASK = 8;
        static final int OPEN_FLAGS = 12;
        static final int SIZE_OF = 16;

        private CreateIn() {}
    }

    /** struct fuse_open_out. */
    static final class OpenOut {
        static final int FH = 0;
        static final int OPEN_FLAGS = 8;
        static final int SIZE_OF = 16;

        private OpenOut() {}
    }

    /** struct fuse_release_in. */
    static final class ReleaseIn {
        static final int FH = 0;
        static final int FLAGS = 8;
        static final int RELEASE_FLAGS = 12;
        static final int LOCK_OWNER = 16;
        static final int SIZE_OF = 24;

        private ReleaseIn() {}
    }

    /** struct fuse_flush_in. */
    static final class FlushIn {
        static final int FH = 0;
        static final int LOCK_OWNER = 16;
        static final int SIZE_OF = 24;

        private FlushIn() {}
    }

    /** struct fuse_read_in. */
    static final class ReadIn {
        static final int FH = 0;
        static final int OFFSET = 8;
        static final int SIZE = 16;
        static final int READ_FLAGS = 20;
        static final int LOCK_OWNER = 24;
        static final int FLAGS = 32;
        static final int SIZE_OF = 40;

        private ReadIn() {}
    }

    /** struct fuse_write_in. */
    static final class WriteIn {
        static final int FH = 0;
        static final int OFFSET = 8;
        static final int SIZE = 16;
        static final int WRITE_FLAGS = 20;
        static final int LOCK_OWNER = 24;
        static final int FLAGS = 32;
        static final int SIZE_OF = 40;

        private WriteIn() {}
    }

    /** struct fuse_write_out. */
    static final class WriteOut {
        static final int SIZE = 0;
        static final int SIZE_OF = 8;

        private WriteOut() {}
    }

    /** struct fuse_kstatfs. */
    static final class Kstatfs {
        static final int BLOCKS = 0;
        static final int BFREE = 8;
        static final int BAVAIL = 16;
        static final int FILES = 24;
        static final int FFREE = 32;
        static final int BSIZE = 40;
        static final int NAMELEN = 44;
        static final int FRSIZE = 48;
        static final int SIZE_OF = 80;

        private Kstatfs() {}
    }

    /** struct fuse_fsync_in. */
    static final class FsyncIn {
        static final int FH = 0;
        static final int FSYNC_FLAGS = 8;
        static final int SIZE_OF = 16;

        private FsyncIn() {}
    }

    /** struct fuse_access_in. */
    static final class AccessIn {
        static final int MASK = 0;
        static final int SIZE_OF = 8;

        private AccessIn() {}
    }

    /** struct fuse_interrupt_in. */
    static final class InterruptIn {
        static final int UNIQUE = 0;
        static final int SIZE_OF = 8;

        private InterruptIn() {}
    }

    /** struct fuse_file_lock. */
    static final class FileLock {
        static final int START = 0;
        static final int END = 8;
        static final int TYPE = 16;
        static final int PID = 20;
        static final int SIZE_OF = 24;

        private FileLock() {}
    }

    /** struct fuse_lk_in. */
    static final class LkIn {
        static final int FH = 0;
        static final int OWNER = 8;
        static final int LK = 16;
        static final int LK_FLAGS = 40;
        static final int SIZE_OF = 48;

        private LkIn() {}
    }

    /** struct fuse_lk_out. */
    static final class LkOut {
        static final int LK = 0;
        static final int SIZE_OF = 24;

        private LkOut() {}
    }

    /** struct fuse_lseek_in. */
    static final class LseekIn {
        static final int FH = 0;
        static final int OFFSET = 8;
        static final int WHENCE = 16;
        static final int SIZE_OF = 24;

        private LseekIn() {}
    }

    /** struct fuse_fallocate_in. */
    static final class FallocateIn {
        static final int FH = 0;
        static final int OFFSET = 8;
        static final int LENGTH = 16;
        static final int MODE = 24;
        static final int SIZE_OF = 32;

        private FallocateIn() {}
    }

    /** struct fuse_copy_file_range_in. */
    static final class CopyFileRangeIn {
        static final int FH_IN = 0;
        static final int OFF_IN = 8;
        static final int NODEID_OUT = 16;
        static final int FH_OUT = 24;
        static final int OFF_OUT = 32;
        static final int LEN = 40;
        static final int FLAGS = 48;
        static final int SIZE_OF = 56;

        private CopyFileRangeIn() {}
    }

    /** struct fuse_lseek_out. */
    static final class LseekOut {
        static final int OFFSET = 0;
        static final int SIZE_OF = 8;

        private LseekOut() {}
    }

    /** struct fuse_dirent. */
    static final class Dirent {
        static final int INO = 0;
        static final int OFF = 8;
        static final int NAMELEN = 16;
        static final int TYPE = 20;
        static final int NAME = 24;
        static final int SIZE_OF = 24;

        private Dirent() {}
    }

    /** struct fuse_notify_inval_inode_out. */
    static final class NotifyInvalInodeOut {
        static final int INO = 0;
        static final int OFF = 8;
        static final int LEN = 16;
        static final int SIZE_OF = 24;

        private NotifyInvalInodeOut() {}
    }

    /** struct fuse_notify_inval_entry_out. */
    static final class NotifyInvalEntryOut {
        static final int PARENT = 0;
        static final int NAMELEN = 8;
        static final int FLAGS = 12;
        static final int SIZE_OF = 16;

        private NotifyInvalEntryOut() {}
    }

    /** struct fuse_notify_store_out. */
    static final class NotifyStoreOut {
        static final int NODEID = 0;
        static final int OFFSET = 8;
        static final int SIZE = 16;
        static final int SIZE_OF = 24;

        private NotifyStoreOut() {}
    }

    /** struct fuse_notify_delete_out. */
    static final class NotifyDeleteOut {
        static final int PARENT = 0;
        static final int CHILD = 8;
        static final int NAMELEN = 16;
        static final int SIZE_OF = 24;

        private NotifyDeleteOut() {}
    }

    /** struct fuse_statx_in. */
    static final class StatxIn {
        static final int GETATTR_FLAGS = 0;
        static final int FH = 8;
        static final int SX_FLAGS = 16;
        static final int SX_MASK = 20;
        static final int SIZE_OF = 24;

        private StatxIn() {}
    }

    /** struct fuse_statx_out. */
    static final class StatxOut {
        static final int ATTR_VALID = 0;
        static final int ATTR_VALID_NSEC = 8;
        static final int FLAGS = 12;
        static final int STAT = 32;
        static final int SIZE_OF = 288;

        private StatxOut() {}
    }

    /** struct fuse_sx_time. */
    static final class SxTime {
        static final int TV_SEC = 0;
        static final int TV_NSEC = 8;
        static final int SIZE_OF = 16;

        private SxTime() {}
    }

    /** struct fuse_statx. */
    static final class Statx {
        static final int MASK = 0;
        static final int BLKSIZE = 4;
        static final int ATTRIBUTES = 8;
        static final int NLINK = 16;
        static final int UID = 20;
        static final int GID = 24;
        static final int MODE = 28;
        static final int INO = 32;
        static final int SIZE = 40;
        static final int BLOCKS = 48;
        static final int ATTRIBUTES_MASK = 56;
        static final int ATIME = 64;
        static final int BTIME = 80;
        static final int CTIME = 96;
        static final int MTIME = 112;
        static final int RDEV_MAJOR = 128;
        static final int RDEV_MINOR = 132;
        static final int DEV_MAJOR = 136;
        static final int DEV_MINOR = 140;
        static final int SIZE_OF = 256;

        private Statx() {}
    }
}
