package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.globalfs.protocol.BlockIds;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.Extent;
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
 * Content maps of files. Invariants: pieces of a file do not overlap; one that reaches beyond its
 * size is unwritten, and the inode is marked {@link Inode#RESERVED}; the inode counts them ({@code
 * extents}) and their bytes ({@code stored}); a block's record counts the pieces that refer to it,
 * and a block without any is on the doomed list. Pieces that touch and go on in each other are one:
 * unwritten ones, parts of one block, and embedded ones as far as one may hold. Methods change the
 * inode but leave storing it to the caller.
 */
final class Content {

    /** Pieces looked at in one go; what may stop there says how far it came. */
    private static final int BATCH = 4096;

    /** Embedded bytes that one command may copy. */
    private static final int COPIED_BYTES = 1 << 20;

    /** Of a row that only has to be there. */
    private static final byte[] PRESENT = {1};

    private final MutableRecords records;
    private final Counters counters;
    private final Loans loans;
    private final int batch;

    /** Since they were taken last. */
    private List<BlockRef> newlyDoomed = new ArrayList<>();

    Content(MutableRecords records, Counters counters) {
        this(records, counters, BATCH);
    }

    Content(MutableRecords records, Counters counters, int batch) {
        this.records = records;
        this.counters = counters;
        this.loans = new Loans(records, counters);
        this.batch = batch;
    }

    /** Whether so much more, which nothing has to stand behind, can be counted. */
    boolean hasRoom(long bytes) {
        return bytes <= Limits.BYTES_MAX - counters.bytes;
    }

    /** Whether a file may grow by so much: see {@link Quotas#mayGrow}. */
    interface Room {
        boolean has(Inode file, long atMost, LongSupplier exactly);
    }

    /**
     * Whether the block may be gone already: it was given up before, or may have been swept; by
     * another region, too, of which no more is known here than what it lent.
     */
    boolean mayBeGone(BlockRef block) {
        byte[] key = Blocks.key(block);
        if (loans.isForeign(block)) {
            return records.get(Table.BLOCK, key) == null;
        }
        return counters.doomed > 0 && records.get(Table.DOOMED, key) != null
                || BlockIds.timeMs(block) < counters.fenceMs
                        && records.get(Table.BLOCK, key) == null;
    }

    /** From now on older blocks are not referred to anew. */
    void fence(long beforeMs) {
        counters.fenceMs = Math.max(counters.fenceMs, beforeMs);
    }

    long fenceMs() {
        return counters.fenceMs;
    }

    /** Replaces what the piece's range held; the size grows to its end when that is beyond. */
    void write(Inode inode, Piece piece) {
        if (piece.block() != null) {
            refer(piece.block(), 1);
            noteForeign(inode.ino, piece.block());
        }
        if (piece.offset() < inode.size || isReserved(inode)) {
            clear(inode, piece.offset(), piece.end());
        }
        inode.size = Math.max(inode.size, piece.end());
        put(
                inode,
                piece.data() == null ? joined(inode, piece) : joined(inode, piece, piece.data()));
    }

    private static boolean isReserved(Inode inode) {
        return (inode.flags & Inode.RESERVED) != 0;
    }

    /** Whether one command should {@link #truncate} it to nothing. */
    boolean isCutAtOnce(Inode inode) {
        return inode.extents <= batch;
    }

    /** Sets the size; what lies beyond is gone. */
    void truncate(Inode inode, long size) {
        if (size < inode.size || isReserved(inode)) {
            clear(inode, size, Long.MAX_VALUE);
            inode.flags &= ~Inode.RESERVED;
        }
        inode.size = size;
    }

    /**
     * Fills what is missing of the range with unwritten pieces; returns how far it came. Without
     * {@code keepSize} the size grows to there.
     */
    long allocate(Inode inode, long from, long to, boolean keepSize) {
        List<Piece> present = overlapping(records, inode, from, to, batch);
        long at = from;
        for (Piece piece : present) {
            if (piece.offset() > at) {
                put(inode, joined(inode, Piece.unwritten(at, piece.offset())));
            }
            at = piece.end();
        }
        if (present.size() < batch) {
            if (at < to) {
                put(inode, joined(inode, Piece.unwritten(at, to)));
            }
            at = to;
        }
        long until = Math.min(at, to);
        if (!keepSize) {
            inode.size = Math.max(inode.size, until);
        } else if (until > inode.size) {
            inode.flags |= Inode.RESERVED;
        }
        return until;
    }

    /** By how much {@link #allocate} would make the file's pieces longer. */
    long missing(Inode inode, long from, long to) {
        List<Piece> present = overlapping(records, inode, from, to, batch);
        long until = present.size() < batch ? to : Math.min(to, present.getLast().end());
        return until - from - covered(present, from, until);
    }

    /** Bytes of the range that pieces hold. */
    long covered(Inode inode, long from, long to) {
        long sum = 0;
        long at = from;
        while (at < to && inode.extents > 0) {
            List<Piece> pieces = overlapping(records, inode, at, to, batch);
            sum += covered(pieces, at, to);
            at = pieces.size() < batch ? to : pieces.getLast().end();
        }
        return sum;
    }

    private static long covered(List<Piece> pieces, long from, long to) {
        long sum = 0;
        for (Piece piece : pieces) {
            sum += Math.max(0, Math.min(piece.end(), to) - Math.max(piece.offset(), from));
        }
        return sum;
    }

    /** By how much writing these extents makes the file's pieces longer. */
    long growth(Inode inode, List<Extent> extents, long base) {
        List<Extent> inOrder = new ArrayList<>(extents);
        inOrder.sort(Comparator.comparingLong(Extent::getOffset));
        long sum = 0;
        long end = 0;
        for (Extent extent : inOrder) {
            long from = Math.max(end, base + extent.getOffset());
            end = Math.max(end, base + extent.getOffset() + extent.getLength());
            sum += Math.max(0, end - from) - covered(inode, from, end);
        }
        return sum;
    }

    /** Makes a hole of the range, or of its beginning; returns how far it came. */
    long punch(Inode inode, long from, long to) {
        List<Piece> present = overlapping(records, inode, from, to, batch);
        long until = present.size() < batch ? to : Math.min(to, present.getLast().end());
        clear(inode, from, until);
        return until;
    }

    /**
     * Lets the target hold what the source holds in a range, or its beginning; returns how many
     * bytes, -1 when there is no room. The ranges do not overlap when both are one inode (then one
     * object).
     */
    long copy(Inode source, long from, Inode target, long to, long length, Room room) {
        long end = Math.min(source.size, from + length);
        if (end <= from) {
            return 0;
        }
        List<Piece> present = overlapping(records, source, from, end, batch);
        long until = present.size() < batch ? end : Math.min(end, present.getLast().end());
        List<Piece> replaced = overlapping(records, target, to, to + (until - from), batch);
        if (replaced.size() == batch) {
            until = Math.min(until, from + (replaced.getLast().end() - to));
        }
        List<Piece> parts = new ArrayList<>();
        long embedded = 0;
        long added = 0;
        for (Piece piece : present) {
            if (!piece.isUnwritten() && piece.offset() < until) {
                Piece part =
                        piece.part(Math.max(piece.offset(), from), Math.min(piece.end(), until));
                parts.add(part);
                added += part.length();
                embedded += part.data() == null ? 0 : part.length();
                if (embedded >= COPIED_BYTES) {
                    until = part.end();
                    break;
                }
            }
        }
        long copied = until - from;
        long atMost = added;
        if (!room.has(target, atMost, () -> atMost - covered(target, to, to + copied))) {
            return -1;
        }
        // The source's pieces keep their blocks from being doomed in between.
        clear(target, to, to + copied);
        for (Piece part : parts) {
            write(target, part.at(to + (part.offset() - from)));
        }
        target.size = Math.max(target.size, to + copied);
        return copied;
    }

    /**
     * Removes up to {@code limit} pieces from the end; true when none is left, else the file ends
     * where they do.
     */
    boolean erode(Inode inode, int limit) {
        return erode(inode, 0, limit);
    }

    /**
     * Cuts off what lies beyond a size, as much of it as one command should; false: there is more,
     * and the file ends where that does.
     */
    boolean shorten(Inode inode, long size) {
        return inode.extents <= batch || erode(inode, size, batch);
    }

    /** Removes up to {@code limit} pieces from the end that begin there or later; true: all. */
    private boolean erode(Inode inode, long from, int limit) {
        if (inode.extents == 0) {
            return true;
        }
        int[] left = {limit};
        boolean[] all = {true};
        // Not from beyond the end, over all that commands before this one removed.
        long last = isReserved(inode) ? Long.MAX_VALUE : inode.size;
        records.scanBack(
                Table.EXTENT,
                Keys.of(inode.ino),
                Keys.of(inode.ino, last),
                (key, value) -> {
                    Piece piece = decode(key, value);
                    if (piece.offset() < from) {
                        return false;
                    }
                    if (left[0] == 0) {
                        inode.size = Math.min(inode.size, piece.end());
                        all[0] = false;
                        return false;
                    }
                    left[0]--;
                    remove(inode, piece);
                    unrefer(piece);
                    return inode.extents > 0;
                });
        return all[0];
    }

    /** Frees the range; pieces that cross its borders keep what lies outside. */
    private void clear(Inode inode, long from, long to) {
        if (inode.extents == 0) {
            return;
        }
        List<Piece> pieces = overlapping(records, inode, from, to, batch);
        pieces.forEach(piece -> clear(inode, piece, from, to));
        while (pieces.size() == batch) {
            // Nothing that begins before there reaches beyond it any more.
            pieces = beginning(records, inode, pieces.getLast().end(), to, batch);
            pieces.forEach(piece -> clear(inode, piece, from, to));
        }
    }

    private void clear(Inode inode, Piece piece, long from, long to) {
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

    /** The pieces of the range in order, {@code limit} at most. */
    static List<Piece> overlapping(Records records, Inode inode, long from, long to, int limit) {
        if (inode.extents == 0) {
            return List.of();
        }
        Piece first = at(records, inode, from);
        return beginning(records, inode, first == null ? from : first.offset(), to, limit);
    }

    /** The pieces that begin in the range, in order, {@code limit} at most. */
    private static List<Piece> beginning(
            Records records, Inode inode, long from, long to, int limit) {
        List<Piece> found = new ArrayList<>();
        records.scan(
                Table.EXTENT,
                Keys.of(inode.ino),
                Keys.of(inode.ino, from),
                (key, value) -> {
                    long offset = Keys.getLong(key, 8);
                    if (offset >= to || found.size() == limit) {
                        return false;
                    }
                    found.add(Piece.decode(offset, value));
                    return true;
                });
        return found;
    }

    /** The piece that covers this byte. */
    static @Nullable Piece at(Records records, Inode inode, long offset) {
        if (inode.extents == 0) {
            return null;
        }
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
        if (inode.extents == 0 || data.length >= Limits.JOINED_MAX) {
            return piece;
        }
        Piece whole = piece;
        byte[] bytes = data;
        Piece left = piece.offset() == 0 ? null : at(records, inode, piece.offset() - 1);
        if (left != null
                && left.data() != null
                && left.length() + bytes.length <= Limits.JOINED_MAX) {
            remove(inode, left);
            whole = left.join(left.data(), bytes);
            bytes = Objects.requireNonNull(whole.data());
        }
        Piece right = whole.end() >= inode.size ? null : at(records, inode, whole.end());
        if (right != null
                && right.data() != null
                && right.length() + bytes.length <= Limits.JOINED_MAX) {
            remove(inode, right);
            whole = whole.join(bytes, right.data());
        }
        return whole;
    }

    /** The new piece, of a block or unwritten, together with neighbours that it goes on in. */
    private Piece joined(Inode inode, Piece piece) {
        BlockRef block = piece.block();
        boolean first = block != null && piece.blockOffset() == 0;
        boolean last = block != null && piece.blockOffset() + piece.length() == block.getLength();
        if (inode.extents == 0 || first && last) {
            return piece;
        }
        Piece whole = piece;
        Piece left = first || piece.offset() == 0 ? null : at(records, inode, piece.offset() - 1);
        if (left != null && goesOn(left, piece)) {
            remove(inode, left);
            whole = left.longer(piece.length());
            unrefer(left);
        }
        Piece right = last ? null : at(records, inode, whole.end());
        if (right != null && goesOn(whole, right)) {
            remove(inode, right);
            whole = whole.longer(right.length());
            unrefer(right);
        }
        return whole;
    }

    private static boolean goesOn(Piece before, Piece after) {
        return before.isUnwritten() ? after.isUnwritten() : before.continuesIn(after);
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

    void refer(BlockRef block, long change) {
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
            if (!loans.giveBack(block)) {
                records.put(Table.DOOMED, key, Blocks.encode(0, block));
                counters.doomed++;
                newlyDoomed.add(block);
            }
        }
    }

    /** Blocks that nothing refers to any more, and something did when this was called last. */
    List<BlockRef> takeNewlyDoomed() {
        List<BlockRef> taken = newlyDoomed;
        newlyDoomed = new ArrayList<>();
        return taken;
    }

    /**
     * Whoever copies a foreign block has foreign content too, which has to follow before it moves.
     */
    void noteForeign(long ino, BlockRef block) {
        byte[] row = Keys.of(ino);
        if (loans.isForeign(block) && records.get(Table.FOREIGN, row) == null) {
            counters.foreign++;
            records.put(Table.FOREIGN, row, PRESENT);
        }
    }

    /** Takes a file off the list of those with foreign content when it has none any more. */
    void settle(Inode inode) {
        byte[] row = Keys.of(inode.ino);
        if (counters.foreign == 0 || records.get(Table.FOREIGN, row) == null) {
            return;
        }
        boolean[] foreign = {false};
        records.scan(
                Table.EXTENT,
                row,
                row,
                (key, value) -> {
                    BlockRef block = decode(key, value).block();
                    foreign[0] = block != null && loans.isForeign(block);
                    return !foreign[0];
                });
        if (!foreign[0]) {
            counters.foreign--;
            records.delete(Table.FOREIGN, row);
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
