package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Piece;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;

/**
 * Content maps of files. Invariants: pieces of a file do not overlap, none reaches beyond its size;
 * the inode counts them ({@code extents}) and their bytes ({@code stored}); a block's record counts
 * the pieces that refer to it, and a block without any is on the doomed list. Methods change the
 * inode but leave storing it to the caller.
 */
final class Content {

    private final MutableRecords records;
    private final Counters counters;

    Content(MutableRecords records, Counters counters) {
        this.records = records;
        this.counters = counters;
    }

    /** Whether the block was given up before: it may be gone already. */
    boolean isDoomed(BlockRef block) {
        return counters.doomed > 0 && records.get(Table.DOOMED, Blocks.key(block)) != null;
    }

    /** Replaces what the piece's range held; the size grows to its end when that is beyond. */
    void write(Inode inode, Piece piece) {
        if (piece.block() != null) {
            refer(piece.block(), 1);
        }
        boolean beyond = piece.offset() >= inode.size;
        if (!beyond) {
            clear(inode, piece.offset(), piece.end());
        }
        inode.size = Math.max(inode.size, piece.end());
        put(inode, piece.data() == null ? piece : joined(inode, piece, piece.data()));
    }

    /** Sets the size; what lies beyond is gone. */
    void truncate(Inode inode, long size) {
        if (size < inode.size) {
            clear(inode, size, Long.MAX_VALUE);
        }
        inode.size = size;
    }

    /** Removes up to {@code limit} pieces from the end; true when none is left. */
    boolean erode(Inode inode, int limit) {
        for (int left = limit; left > 0 && inode.extents > 0; left--) {
            Records.Row last =
                    Objects.requireNonNull(
                            records.floor(
                                    Table.EXTENT,
                                    Keys.of(inode.ino),
                                    Keys.of(inode.ino, Long.MAX_VALUE)));
            Piece piece = decode(last.key(), last.value());
            remove(inode, piece);
            unrefer(piece);
        }
        return inode.extents == 0;
    }

    /** Frees the range; pieces that cross its borders keep what lies outside. */
    private void clear(Inode inode, long from, long to) {
        if (inode.extents == 0) {
            return;
        }
        for (Piece piece : overlapping(records, inode, from, to)) {
            remove(inode, piece);
            boolean before = piece.offset() < from;
            boolean after = piece.end() > to;
            if (before) {
                put(inode, piece.part(piece.offset(), from));
            }
            if (after) {
                put(inode, piece.part(to, piece.end()));
            }
            if (before && after && piece.block() != null) {
                refer(piece.block(), 1);
            } else if (!before && !after) {
                unrefer(piece);
            }
        }
    }

    static List<Piece> overlapping(Records records, Inode inode, long from, long to) {
        List<Piece> found = new ArrayList<>();
        byte[] prefix = Keys.of(inode.ino);
        Piece first = at(records, inode, from);
        long start = first == null ? from : first.offset();
        records.scan(
                Table.EXTENT,
                prefix,
                Keys.of(inode.ino, start),
                (key, value) -> {
                    long offset = Keys.getLong(key, 8);
                    if (offset >= to) {
                        return false;
                    }
                    found.add(Piece.decode(offset, value));
                    return true;
                });
        return found;
    }

    /** The piece that covers this byte. */
    static @Nullable Piece at(Records records, Inode inode, long offset) {
        if (inode.extents == 1) {
            byte[] value = records.get(Table.EXTENT, Keys.of(inode.ino, 0));
            if (value != null) {
                Piece only = Piece.decode(0, value);
                return only.end() > offset ? only : null;
            }
        }
        Records.Row row =
                records.floor(Table.EXTENT, Keys.of(inode.ino), Keys.of(inode.ino, offset));
        if (row == null) {
            return null;
        }
        Piece piece = decode(row.key(), row.value());
        return piece.end() > offset ? piece : null;
    }

    private static Piece decode(byte[] key, byte[] value) {
        return Piece.decode(Keys.getLong(key, 8), value);
    }

    /**
     * The new embedded piece together with embedded neighbours, as far as one piece may hold them.
     */
    private Piece joined(Inode inode, Piece piece, byte[] data) {
        if (inode.extents == 0 || data.length >= Limits.INLINE_MAX) {
            return piece;
        }
        Piece whole = piece;
        byte[] bytes = data;
        Piece left = piece.offset() == 0 ? null : at(records, inode, piece.offset() - 1);
        if (left != null
                && left.data() != null
                && left.length() + bytes.length <= Limits.INLINE_MAX) {
            remove(inode, left);
            whole = left.join(left.data(), bytes);
            bytes = Objects.requireNonNull(whole.data());
        }
        Piece right = whole.end() >= inode.size ? null : at(records, inode, whole.end());
        if (right != null
                && right.data() != null
                && right.length() + bytes.length <= Limits.INLINE_MAX) {
            remove(inode, right);
            whole = whole.join(bytes, right.data());
        }
        return whole;
    }

    private void put(Inode inode, Piece piece) {
        inode.extents++;
        inode.stored += piece.length();
        counters.bytes += piece.length();
        records.put(Table.EXTENT, Keys.of(inode.ino, piece.offset()), piece.encode());
    }

    private void remove(Inode inode, Piece piece) {
        inode.extents--;
        inode.stored -= piece.length();
        counters.bytes -= piece.length();
        records.delete(Table.EXTENT, Keys.of(inode.ino, piece.offset()));
    }

    private void unrefer(Piece piece) {
        if (piece.block() != null) {
            refer(piece.block(), -1);
        }
    }

    private void refer(BlockRef block, int change) {
        byte[] key = Blocks.key(block);
        byte[] value = records.get(Table.BLOCK, key);
        long references = (value == null ? 0 : Blocks.references(value)) + change;
        Invariant.check(
                references >= 0,
                "block %x%016x has %s references",
                block.getIdHigh(),
                block.getIdLow(),
                references);
        if (references > 0) {
            records.put(Table.BLOCK, key, Blocks.encode(references, block));
        } else {
            records.delete(Table.BLOCK, key);
            records.put(Table.DOOMED, key, Blocks.encode(0, block));
            counters.doomed++;
        }
    }

    /** Strikes blocks off the doomed list that the datastore has deleted. */
    void deleted(List<BlockRef> blocks) {
        for (BlockRef block : blocks) {
            byte[] key = Blocks.key(block);
            if (records.get(Table.DOOMED, key) != null) {
                records.delete(Table.DOOMED, key);
                counters.doomed--;
            }
        }
    }
}
