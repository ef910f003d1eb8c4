package org.globalfs.replica.state.model;

/**
 * A name in a directory: the inode, its S_IFMT bits, and the entry's place in the order of readdir.
 */
public record Dentry(long ino, int type, long cookie) {

    private static final int FORMAT = 1;
    private static final int TYPE_SHIFT = 12;

    /** Value in {@link Table#DENTRY}. */
    public byte[] encode() {
        return new Packer(20).u8(FORMAT).u8(type >>> TYPE_SHIFT).i64(ino).varint(cookie).done();
    }

    public static Dentry decode(byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "directory entry");
        int type = in.u8() << TYPE_SHIFT;
        return new Dentry(in.i64(), type, in.varint());
    }

    /** Value in {@link Table#COOKIE}. */
    public byte[] encodeByCookie(byte[] name) {
        return new Packer(10 + name.length)
                .u8(FORMAT)
                .u8(type >>> TYPE_SHIFT)
                .i64(ino)
                .raw(name, 0, name.length)
                .done();
    }

    /** A value of {@link Table#COOKIE} with the cookie from its key. */
    public static Named decodeByCookie(long cookie, byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "directory entry by cookie");
        int type = in.u8() << TYPE_SHIFT;
        return new Named(new Dentry(in.i64(), type, cookie), in.rest());
    }

    /** An entry with its name. */
    public record Named(Dentry dentry, byte[] name) {}
}
