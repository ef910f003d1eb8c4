package org.globalfs.replica.state.model;

import java.util.Arrays;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Extent;
import org.jspecify.annotations.Nullable;

/**
 * Stored extent: a byte range of a file that is held here, is a part of a block, or is allocated
 * and not written yet (reads as zeros).
 *
 * @param data the bytes, or null for a part of {@code block}; both null: unwritten
 */
public record Piece(
        long offset,
        long length,
        byte @Nullable [] data,
        @Nullable BlockRef block,
        int blockOffset) {

    private static final int FORMAT = 1;
    private static final int EMBEDDED = 0;
    private static final int IN_BLOCK = 1;
    private static final int UNWRITTEN = 2;

    public static Piece of(Extent extent, long offset) {
        return extent.isSetData()
                ? new Piece(offset, extent.getLength(), extent.getData(), null, 0)
                : new Piece(
                        offset,
                        extent.getLength(),
                        null,
                        extent.getBlock(),
                        extent.getBlockOffset());
    }

    public static Piece unwritten(long from, long to) {
        return new Piece(from, to - from, null, null, 0);
    }

    public boolean isUnwritten() {
        return data == null && block == null;
    }

    /** Whether {@code next}, which begins at this piece's end, goes on in the same block. */
    public boolean continuesIn(Piece next) {
        return block != null
                && next.block != null
                && block.getIdHigh() == next.block.getIdHigh()
                && block.getIdLow() == next.block.getIdLow()
                && blockOffset + length == next.blockOffset;
    }

    /** The same content at another place of a file. */
    public Piece at(long otherOffset) {
        return new Piece(otherOffset, length, data, block, blockOffset);
    }

    /** As long as both together: this piece and the one that continues it. */
    public Piece longer(long more) {
        return new Piece(offset, length + more, null, block, blockOffset);
    }

    public long end() {
        return offset + length;
    }

    /** The part of this piece in {@code [from, to)}, which must not be empty. */
    public Piece part(long from, long to) {
        if (isUnwritten()) {
            return unwritten(from, to);
        }
        int skip = (int) (from - offset);
        return data != null
                ? new Piece(
                        from,
                        to - from,
                        Arrays.copyOfRange(data, skip, (int) (to - offset)),
                        null,
                        0)
                : new Piece(from, to - from, null, block, blockOffset + skip);
    }

    /** This piece and the one that begins at its end, both embedded. */
    public Piece join(byte[] mine, byte[] next) {
        byte[] both = Arrays.copyOf(mine, mine.length + next.length);
        System.arraycopy(next, 0, both, mine.length, next.length);
        return new Piece(offset, both.length, both, null, 0);
    }

    /** Value in {@link Table#EXTENT}; the key has the offset. */
    public byte[] encode() {
        if (data != null) {
            return new Packer(data.length + 2)
                    .u8(FORMAT)
                    .u8(EMBEDDED)
                    .raw(data, 0, data.length)
                    .done();
        }
        if (block == null) {
            return new Packer(12).u8(FORMAT).u8(UNWRITTEN).varint(length).done();
        }
        Packer out = new Packer(48).u8(FORMAT).u8(IN_BLOCK).varint(length).varint(blockOffset);
        Blocks.pack(out, block);
        return out.done();
    }

    public static Piece decode(long offset, byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "extent");
        return switch (in.u8()) {
            case EMBEDDED -> {
                byte[] data = in.rest();
                yield new Piece(offset, data.length, data, null, 0);
            }
            case IN_BLOCK -> {
                long length = in.varint();
                int blockOffset = in.varint32();
                yield new Piece(offset, length, null, Blocks.unpack(in), blockOffset);
            }
            case UNWRITTEN -> unwritten(offset, offset + in.varint());
            default -> throw new CorruptRecordException("extent of unknown kind");
        };
    }

    public Extent toWire() {
        Extent extent = new Extent(offset, length);
        if (data != null) {
            extent.setData(data);
        } else if (block == null) {
            extent.setUnwritten(true);
        } else {
            extent.setBlock(block);
            extent.setBlockOffset(blockOffset);
        }
        return extent;
    }
}
