package org.globalfs.replica.state.model;

/** Working copy of a tree's limits and usage. A change counts once it is stored again. */
public final class Quota {

    private static final int FORMAT = 1;
    private static final int CLEARED = 1;

    public final long id;

    /** The directory that it was set on. */
    public final long root;

    /** The quota around it, never a cleared one; 0: none. */
    public long parent;

    /** No limit any more, and no quotas below; kept while inodes name it. */
    public boolean cleared;

    /** 0: no limit. */
    public long limitBytes;

    public long limitInodes;

    /** Of all inodes that name it or a quota below it. */
    public long usedBytes;

    public long usedInodes;

    /** Quotas whose parent it is. */
    public long children;

    public Quota(long id, long root) {
        this.id = id;
        this.root = root;
    }

    public boolean isOf(Inode directory) {
        return !cleared && root == directory.ino;
    }

    /** Whether it has room for so much more; what does not grow always fits. */
    public boolean fits(long inodes, long bytes) {
        boolean inodesFit = inodes <= 0 || limitInodes == 0 || usedInodes + inodes <= limitInodes;
        return inodesFit && (bytes <= 0 || limitBytes == 0 || bytes <= limitBytes - usedBytes);
    }

    public byte[] encode() {
        Packer out = new Packer(64).u8(FORMAT).u8(cleared ? CLEARED : 0).i64(root).i64(parent);
        out.varint(limitBytes).varint(limitInodes).varint(usedBytes).varint(usedInodes);
        return out.varint(children).done();
    }

    public static Quota decode(long id, byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "quota");
        int bits = in.u8();
        Quota quota = new Quota(id, in.i64());
        quota.cleared = (bits & CLEARED) != 0;
        quota.parent = in.i64();
        quota.limitBytes = in.varint();
        quota.limitInodes = in.varint();
        quota.usedBytes = in.varint();
        quota.usedInodes = in.varint();
        quota.children = in.varint();
        return quota;
    }
}
