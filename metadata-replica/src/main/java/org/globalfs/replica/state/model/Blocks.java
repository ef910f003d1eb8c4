package org.globalfs.replica.state.model;

import org.globalfs.protocol.wire.BlockRef;

/** Stored form of references to blocks. */
public final class Blocks {

    private static final int FORMAT = 1;

    private Blocks() {}

    public static byte[] key(BlockRef block) {
        return Keys.of(block.getIdHigh(), block.getIdLow());
    }

    public static void pack(Packer out, BlockRef block) {
        out.i64(block.getIdHigh())
                .i64(block.getIdLow())
                .varint(block.getLength())
                .unsigned(block.getRegion());
        out.u8(block.getDataChunks()).u8(block.getParityChunks()).unsigned(block.getEpoch());
    }

    public static BlockRef unpack(Unpacker in) {
        return new BlockRef(
                in.i64(),
                in.i64(),
                in.varint32(),
                in.varint32(),
                (byte) in.u8(),
                (byte) in.u8(),
                in.varint32());
    }

    /** Value in {@link Table#BLOCK} and, with 0 references, in {@link Table#DOOMED}. */
    public static byte[] encode(long references, BlockRef block) {
        Packer out = new Packer(40).u8(FORMAT).varint(references);
        pack(out, block);
        return out.done();
    }

    public static long references(byte[] value) {
        return new Unpacker(value).version(FORMAT, "block").varint();
    }

    public static BlockRef decode(byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "block");
        in.varint();
        return unpack(in);
    }

    /** Whether a block that a client names can exist. */
    public static boolean isSound(BlockRef block) {
        return block.getLength() > 0
                && block.getLength() <= Limits.BLOCK_MAX
                && block.getDataChunks() > 0
                && block.getParityChunks() >= 0
                && block.getRegion() >= 0;
    }
}
