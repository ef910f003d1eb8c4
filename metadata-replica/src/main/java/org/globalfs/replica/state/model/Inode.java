package org.globalfs.replica.state.model;

import org.globalfs.protocol.wire.Attributes;

/** Working copy of an inode record. A change counts once it is stored again. */
public final class Inode {

    /** New directories made in this one are placed in their creator's region. */
    public static final int PLACEMENT_CREATOR = 1;

    private static final int FORMAT = 1;
    private static final int DIRECTORY_SIZE = 4096;
    private static final byte[] NO_TARGET = {};

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
    public byte[] target = NO_TARGET;

    public Inode(long ino) {
        this.ino = ino;
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

    public byte[] encode() {
        Packer out = new Packer(96 + target.length);
        out.u8(FORMAT).varint(mode).varint(nlink).unsigned(uid).unsigned(gid).unsigned(rdev);
        out.i64(atimeNs).i64(mtimeNs).i64(ctimeNs).i64(btimeNs).varint(version).varint(flags);
        switch (Mode.type(mode)) {
            case Mode.DIRECTORY -> out.i64(parent).varint(entries).varint(nextCookie);
            case Mode.REGULAR -> out.varint(size).varint(stored).varint(extents);
            case Mode.SYMLINK -> out.blob(target);
            default -> {}
        }
        return out.done();
    }

    public static Inode decode(long ino, byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "inode " + ino);
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
        return inode;
    }

    public Attributes attributes() {
        long visibleSize = isDirectory() ? DIRECTORY_SIZE : size;
        return new Attributes(
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
    }

    private long allocated() {
        return stored + 511 & ~511L;
    }
}
