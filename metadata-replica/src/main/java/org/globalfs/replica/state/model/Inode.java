package org.globalfs.replica.state.model;

import org.globalfs.protocol.wire.Attributes;

/** Working copy of an inode record. A change counts once it is stored again. */
public final class Inode {

    /** New directories made in this one are placed in their creator's region. */
    public static final int PLACEMENT_CREATOR = 1;

    /** It has security.capability. */
    public static final int CAPABILITY = 2;

    /** Directories made in this one are as with {@link #PLACEMENT_CREATOR}; they stay here. */
    public static final int PLACEMENT_CREATOR_BELOW = 4;

    /** File: unwritten pieces may lie beyond its size. */
    public static final int RESERVED = 16;

    /** File without a name that may still get its first one (O_TMPFILE without O_EXCL). */
    public static final int LINKABLE = 32;

    /** It lost its last name: {@link #quota} does not count it, unless it grows. */
    public static final int UNCOUNTED = 64;

    /** Directory: it has {@link org.globalfs.protocol.placement.MoveRule#ATTRIBUTE}. */
    public static final int MOVE_POLICY = 128;

    /** Bits of {@code extended} in {@link Attributes}. */
    public static final int HAS_XATTRS = 1;

    public static final int HAS_DEFAULT_ACL = 2;
    public static final int HAS_CAPABILITY = 4;
    public static final int HAS_POLICY = 8;

    private static final int PLAIN = 1;

    /** As plain, and what an inode with extended attributes has besides. */
    private static final int EXTENDED = 2;

    /** As extended, and the quota that counts it. */
    private static final int IN_QUOTA = 3;

    private static final int DIRECTORY_SIZE = 4096;
    private static final byte[] NONE = {};

    public final long ino;
    public int mode;
    public int nlink;
    public int uid;
    public int gid;
    public int rdev;
    public long size;

    /** Bytes that extents cover; directories and symlinks: 0. */
    public long stored;

    public long atimeNs;
    public long mtimeNs;
    public long ctimeNs;
    public long btimeNs;
    public long version;
    public int flags;

    /** Directories: the directory that holds its entry. */
    public long parent;

    /** Directories: number of entries, and the cookie that the next entry gets. */
    public long entries;

    public long nextCookie;

    /** Files: number of extents. */
    public long extents;

    /** Symlinks. */
    public byte[] target = NONE;

    /** Access control lists as in their extended attributes; empty: none. */
    public byte[] accessAcl = NONE;

    public byte[] defaultAcl = NONE;

    /** Extended attributes in their own table: bytes of names, each with one more, and values. */
    public long xattrNames;

    public long xattrValues;

    /** The innermost quota of the tree that it belongs to; 0: none. */
    public long quota;

    /** As its record has it: the quota that counts it (0: none), and the space counted. */
    public long countedIn;

    public long countedBytes;

    public Inode(long ino) {
        this.ino = ino;
    }

    /** Whether {@link #quota} counts it. */
    public boolean isCounted() {
        return quota != 0 && (flags & UNCOUNTED) == 0;
    }

    public boolean isDirectory() {
        return Mode.isDirectory(mode);
    }

    public boolean isRegular() {
        return Mode.isRegular(mode);
    }

    public int type() {
        return Mode.type(mode);
    }

    /** Marks a change of content or names: mtime, ctime, version. */
    public void modified(long nowNs) {
        mtimeNs = nowNs;
        changed(nowNs);
    }

    /** Marks a change of attributes: ctime, version. */
    public void changed(long nowNs) {
        ctimeNs = nowNs;
        version++;
    }

    private boolean isExtended() {
        return accessAcl.length > 0 || defaultAcl.length > 0 || xattrNames > 0;
    }

    private int format() {
        return quota != 0 ? IN_QUOTA : isExtended() ? EXTENDED : PLAIN;
    }

    public byte[] encode() {
        Packer out = new Packer(96 + target.length + accessAcl.length + defaultAcl.length);
        out.u8(format()).varint(mode).varint(nlink).unsigned(uid).unsigned(gid).unsigned(rdev);
        out.i64(atimeNs).i64(mtimeNs).i64(ctimeNs).i64(btimeNs).varint(version).varint(flags);
        switch (Mode.type(mode)) {
            case Mode.DIRECTORY -> out.i64(parent).varint(entries).varint(nextCookie);
            case Mode.REGULAR -> out.varint(size).varint(stored).varint(extents);
            case Mode.SYMLINK -> out.blob(target);
            default -> {}
        }
        if (format() >= EXTENDED) {
            out.blob(accessAcl).blob(defaultAcl).varint(xattrNames).varint(xattrValues);
        }
        if (quota != 0) {
            out.i64(quota);
        }
        return out.done();
    }

    public static Inode decode(long ino, byte[] value) {
        Unpacker in = new Unpacker(value);
        int format = in.version(PLAIN, IN_QUOTA, "inode", ino);
        Inode inode = new Inode(ino);
        inode.mode = in.varint32();
        inode.nlink = in.varint32();
        inode.uid = in.varint32();
        inode.gid = in.varint32();
        inode.rdev = in.varint32();
        inode.atimeNs = in.i64();
        inode.mtimeNs = in.i64();
        inode.ctimeNs = in.i64();
        inode.btimeNs = in.i64();
        inode.version = in.varint();
        inode.flags = in.varint32();
        switch (Mode.type(inode.mode)) {
            case Mode.DIRECTORY -> {
                inode.parent = in.i64();
                inode.entries = in.varint();
                inode.nextCookie = in.varint();
                inode.size = DIRECTORY_SIZE;
            }
            case Mode.REGULAR -> {
                inode.size = in.varint();
                inode.stored = in.varint();
                inode.extents = in.varint();
            }
            case Mode.SYMLINK -> {
                inode.target = in.blob();
                inode.size = inode.target.length;
            }
            default -> {}
        }
        if (format >= EXTENDED) {
            inode.accessAcl = in.blob();
            inode.defaultAcl = in.blob();
            inode.xattrNames = in.varint();
            inode.xattrValues = in.varint();
        }
        if (format == IN_QUOTA) {
            inode.quota = in.i64();
            inode.countedIn = inode.isCounted() ? inode.quota : 0;
            inode.countedBytes = inode.allocated();
        }
        return inode;
    }

    public Attributes attributes() {
        long visibleSize = isDirectory() ? DIRECTORY_SIZE : size;
        Attributes attributes =
                new Attributes(
                        ino,
                        mode,
                        nlink,
                        uid,
                        gid,
                        rdev,
                        visibleSize,
                        allocated(),
                        atimeNs,
                        mtimeNs,
                        ctimeNs,
                        btimeNs,
                        version);
        if (isExtended()) {
            attributes.setExtended(
                    (xattrNames > 0 ? HAS_XATTRS : 0)
                            | (defaultAcl.length > 0 ? HAS_DEFAULT_ACL : 0)
                            | ((flags & CAPABILITY) != 0 ? HAS_CAPABILITY : 0)
                            | ((flags & MOVE_POLICY) != 0 ? HAS_POLICY : 0));
            if (accessAcl.length > 0) {
                attributes.setAccessAcl(accessAcl.clone());
            }
        }
        return attributes;
    }

    /** st_blocks, in bytes. */
    public long allocated() {
        return allocated(stored);
    }

    public static long allocated(long stored) {
        return stored + 511 & ~511L;
    }
}
