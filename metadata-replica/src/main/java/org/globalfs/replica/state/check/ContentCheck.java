package org.globalfs.replica.state.check;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Piece;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.operations.Loans;
import org.jspecify.annotations.Nullable;

/**
 * Checks content maps against inodes and blocks: pieces of a file do not overlap, its counts of
 * them are right, every block has as many references as pieces refer to it, none of these is
 * doomed; that extents lie within their blocks, and what is allocated beyond a file's size is
 * marked; that files with other regions' blocks are on the list of those, without which they could
 * move on with them; and that attributes and locks belong to inodes.
 */
final class ContentCheck {

    /** Blocks are compared in so many passes, when the sums over all of them differ. */
    private static final int PASSES = 16;

    private final Records records;
    private final Counters counters;
    private final InodeSet inodes;
    private final CheckReport report;
    private final InodeSet withExtents = new InodeSet();

    /** Over all pieces, less over all references: 0 unless something is wrong. */
    private long digest;

    ContentCheck(Records records, Counters counters, InodeSet inodes, CheckReport report) {
        this.records = records;
        this.counters = counters;
        this.inodes = inodes;
        this.report = report;
    }

    void run() {
        extents();
        scan(
                Table.INODE,
                (key, value) -> {
                    Inode inode = Inode.decode(Keys.getLong(key, 0), value);
                    if (inode.isRegular()
                            && inode.extents > 0
                            && !withExtents.contains(inode.ino)) {
                        report.fault(
                                "file %x counts %d extents, but has none",
                                inode.ino, inode.extents);
                    }
                    return true;
                });
        blocks();
        belongs(Table.XATTR, "an extended attribute");
        belongs(Table.FILE_LOCK, "a lock");
    }

    private void scan(Table table, Records.Visitor visitor) {
        records.scan(table, Keys.none(), Keys.none(), visitor);
    }

    /** One file's pieces, which lie together. */
    private final class FileMap {
        long ino = -1;
        @Nullable Inode inode;
        long count;
        long bytes;
        long end;
        boolean foreign;

        void next(long newIno, Piece piece) {
            if (newIno != ino) {
                finish();
                ino = newIno;
                byte[] value = records.get(Table.INODE, Keys.of(ino));
                inode = value == null ? null : Inode.decode(ino, value);
                count = 0;
                bytes = 0;
                end = 0;
                foreign = false;
                withExtents.add(ino);
            }
            if (piece.offset() < end || piece.length() <= 0) {
                report.fault("file %x: extents overlap at %d", ino, piece.offset());
            }
            count++;
            bytes += piece.length();
            end = piece.end();
            foreign |= piece.block() != null && piece.block().getRegion() != counters.partition;
            if (inode != null && end > inode.size && !piece.isUnwritten()) {
                report.fault("file %x: content up to %d beyond its size", ino, end);
            }
            if (piece.block() != null && !isInside(piece, piece.block())) {
                report.fault(
                        "file %x: the extent at %d reaches beyond its block", ino, piece.offset());
            }
        }

        void finish() {
            if (ino < 0) {
                return;
            }
            if (inode == null || !inode.isRegular()) {
                report.fault("%d extents are of inode %x, which is no file", count, ino);
            } else if (inode.extents != count || inode.stored != bytes) {
                report.fault(
                        "file %x has %d extents of %d bytes, but counts %d of %d",
                        ino, count, bytes, inode.extents, inode.stored);
            }
            if (inode != null && end > inode.size && (inode.flags & Inode.RESERVED) == 0) {
                // Whatever writes or cuts there would not look for them.
                report.fault(
                        "file %x has extents up to %d, beyond its size, but is not marked so",
                        ino, end);
            }
            if (foreign && records.get(Table.FOREIGN, Keys.of(ino)) == null) {
                report.fault("file %x has content of another region, but is not listed", ino);
            }
        }
    }

    private static boolean isInside(Piece piece, BlockRef block) {
        return piece.blockOffset() >= 0
                && piece.blockOffset() + piece.length() <= block.getLength();
    }

    private void extents() {
        FileMap file = new FileMap();
        scan(
                Table.EXTENT,
                (key, value) -> {
                    Piece piece = Piece.decode(Keys.getLong(key, 8), value);
                    report.extents++;
                    file.next(Keys.getLong(key, 0), piece);
                    if (piece.block() != null) {
                        digest += mixed(piece.block());
                    }
                    return true;
                });
        file.finish();
    }

    private void blocks() {
        long[] doomed = {0};
        scan(
                Table.BLOCK,
                (key, value) -> {
                    report.blocks++;
                    BlockRef block = Blocks.decode(value);
                    digest -= Blocks.references(value) * mixed(block);
                    if (records.get(Table.DOOMED, key) != null) {
                        report.fault("block %s is in use and doomed", name(block));
                    }
                    return true;
                });
        scan(
                Table.DOOMED,
                (key, value) -> {
                    doomed[0]++;
                    return true;
                });
        if (doomed[0] != counters.doomed) {
            report.fault(
                    "there are %d doomed blocks, but %d are counted", doomed[0], counters.doomed);
        }
        loans();
        for (int pass = 0; digest != 0 && pass < PASSES; pass++) {
            compare(pass);
        }
    }

    /** What was lent counts as references; what was borrowed is in use. */
    private void loans() {
        scan(
                Table.LOAN,
                (key, value) -> {
                    BlockRef block = block(key);
                    int borrower = (int) Keys.getLong(key, 16);
                    if (block == null) {
                        report.fault(
                                "block %x%016x is lent or borrowed, but not in use",
                                Keys.getLong(key, 0), Keys.getLong(key, 8));
                    } else if (borrower != counters.partition) {
                        long loans = Loans.count(value) * mixed(block);
                        digest += loans;
                        report.digests.lent().merge(borrower, loans, Long::sum);
                    } else {
                        long loans = Loans.count(value) * mixed(block);
                        report.digests.borrowed().merge(block.getRegion(), loans, Long::sum);
                    }
                    return true;
                });
    }

    private @Nullable BlockRef block(byte[] loan) {
        byte[] value = records.get(Table.BLOCK, Arrays.copyOf(loan, 16));
        return value == null ? null : Blocks.decode(value);
    }

    /** Finds the blocks whose references are wrong, among a part of all. */
    private void compare(int pass) {
        Map<ByteBuffer, Long> missing = new HashMap<>();
        scan(
                Table.EXTENT,
                (key, value) -> {
                    BlockRef block = Piece.decode(0, value).block();
                    if (block != null && mixed(block) >>> 60 == pass) {
                        missing.merge(ByteBuffer.wrap(Blocks.key(block)), 1L, Long::sum);
                    }
                    return true;
                });
        scan(
                Table.BLOCK,
                (key, value) -> {
                    if (mixed(Blocks.decode(value)) >>> 60 == pass) {
                        missing.merge(ByteBuffer.wrap(key), -Blocks.references(value), Long::sum);
                    }
                    return true;
                });
        scan(
                Table.LOAN,
                (key, value) -> {
                    BlockRef block = block(key);
                    if (block != null
                            && Keys.getLong(key, 16) != counters.partition
                            && mixed(block) >>> 60 == pass) {
                        missing.merge(
                                ByteBuffer.wrap(Blocks.key(block)), Loans.count(value), Long::sum);
                    }
                    return true;
                });
        missing.forEach((key, references) -> {
            if (references != 0) {
                report.fault(
                        "block %x%016x: %d more extents refer to it than it counts",
                        key.getLong(0), key.getLong(8), references);
            }
        });
    }

    private void belongs(Table table, String what) {
        scan(
                table,
                (key, value) -> {
                    if (!inodes.contains(Keys.getLong(key, 0))) {
                        report.fault(
                                "%s belongs to inode %x, which is not there",
                                what, Keys.getLong(key, 0));
                    }
                    return true;
                });
    }

    private static String name(BlockRef block) {
        return String.format("%x%016x", block.getIdHigh(), block.getIdLow());
    }

    private static long mixed(BlockRef block) {
        return Digests.mixed(block.getIdHigh() * 0x9e3779b97f4a7c15L ^ block.getIdLow());
    }
}
