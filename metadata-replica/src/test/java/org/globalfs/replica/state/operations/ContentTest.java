package org.globalfs.replica.state.operations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Piece;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of pieces and blocks in single cases. */
final class ContentTest {

    private final MemoryRecords records = new MemoryRecords();
    private final Counters counters = new Counters(1);
    private final Content content = new Content(records, counters);
    private final Inode inode = new Inode(42);

    ContentTest() {
        inode.mode = Mode.REGULAR | 0644;
    }

    private static BlockRef block(long id, int length) {
        return new BlockRef(1, id, length, 1, (byte) 4, (byte) 2, 1);
    }

    @Test
    void smallAppendsGrowIntoOnePiece() {
        for (int i = 0; i < Limits.JOINED_MAX / 16; i++) {
            content.write(inode, new Piece(i * 16L, 16, new byte[16], null, 0));
        }
        assertThat(inode.extents).isEqualTo(1);
        content.write(inode, new Piece(inode.size, 1, new byte[1], null, 0));
        assertThat(inode.extents).isEqualTo(2);
    }

    @Test
    void aBlockOverwrittenInTheMiddleIsHeldTwice() {
        BlockRef block = block(9, 1000);
        content.write(inode, new Piece(0, 1000, null, block, 0));
        content.write(inode, new Piece(400, 10, new byte[10], null, 0));
        assertThat(Blocks.references(records.table(Table.BLOCK).get(Blocks.key(block))))
                .isEqualTo(2);
        content.truncate(inode, 400);
        assertThat(Blocks.references(records.table(Table.BLOCK).get(Blocks.key(block))))
                .isEqualTo(1);
        content.truncate(inode, 0);
        assertThat(content.mayBeGone(block)).isTrue();
    }

    @Test
    void erodesFromTheEnd() {
        for (int i = 0; i < 10; i++) {
            content.write(inode, new Piece(i * 1000L, 100, null, block(i, 100), 0));
        }
        assertThat(content.erode(inode, 4)).isFalse();
        assertThat(inode.extents).isEqualTo(6);
        assertThat(content.erode(inode, 100)).isTrue();
        assertThat(counters.doomed).isEqualTo(10);
    }

    @Test
    void partsOfOneBlockThatTouchAreOnePiece() {
        BlockRef block = block(9, 1000);
        content.write(inode, new Piece(5000, 300, null, block, 100));
        content.write(inode, new Piece(5500, 200, null, block, 600));
        assertThat(inode.extents).isEqualTo(2);
        content.write(inode, new Piece(5300, 200, null, block, 400));
        assertThat(Content.overlapping(records, inode, 0, Long.MAX_VALUE, 10))
                .containsExactly(new Piece(5000, 700, null, block, 100));
        assertThat(Blocks.references(records.table(Table.BLOCK).get(Blocks.key(block))))
                .isEqualTo(1);
    }

    @Test
    void whatIsAllocatedBeyondTheEndStaysUntilATruncation() {
        content.allocate(inode, 1000, 1L << 40, true);
        assertThat(inode.size).isZero();
        assertThat(inode.stored).isEqualTo((1L << 40) - 1000);
        content.write(inode, new Piece(0, 2000, new byte[2000], null, 0));
        assertThat(inode.stored).isEqualTo(1L << 40);
        content.truncate(inode, 2000);
        assertThat(inode.stored).isEqualTo(2000);
        assertThat(inode.extents).isEqualTo(1);
    }

    private static Content batchesOf(int batch, MemoryRecords rows) {
        return new Content(rows, new Counters(1), batch);
    }

    private void scatter(Content into, int pieces) {
        for (int i = 0; i < pieces; i++) {
            into.write(inode, new Piece(i * 1000L, 100, null, block(i, 100), 0));
        }
    }

    /**
     * An instance's changes hide what is stored below them, so a look back from the end goes over
     * all that was removed in it.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void removesManyPiecesWithoutGoingOverThemAgain(boolean atOnce) {
        HiddenRows rows = new HiddenRows();
        Content many = batchesOf(16, rows);
        scatter(many, 1000);
        rows.steps = 0;
        rows.looks = 0;
        if (atOnce) {
            many.truncate(inode, 0);
        } else {
            assertThat(many.erode(inode, 1000)).isTrue();
        }
        assertThat(inode.extents).isZero();
        assertThat(rows.steps).isLessThan(2_000);
        assertThat(rows.looks).isLessThan(5);
    }

    /** Nor over what commands before it removed. */
    @Test
    void removesManyPiecesInBatchesWithoutGoingOverThemAgain() {
        HiddenRows rows = new HiddenRows();
        Content many = batchesOf(16, rows);
        scatter(many, 1000);
        rows.steps = 0;
        for (int i = 0; i < 30; i++) {
            assertThat(many.shorten(inode, 0)).isFalse();
        }
        while (!many.erode(inode, 16)) {
            assertThat(inode.size).isEqualTo((inode.extents - 1) * 1000L + 100);
        }
        assertThat(inode.extents).isZero();
        assertThat(rows.steps).isLessThan(2_000);
    }

    @Test
    void cutsOffABatchOfPiecesAtATime() {
        Content many = batchesOf(16, records);
        scatter(many, 40);
        many.allocate(inode, inode.size, inode.size + 5000, true);
        assertThat(inode.extents).isEqualTo(41);
        assertThat(many.shorten(inode, 3050)).isFalse();
        assertThat(inode.extents).isEqualTo(25);
        assertThat(inode.size).isEqualTo(24_100);
        assertThat(many.shorten(inode, 3050)).isFalse();
        assertThat(inode.size).isEqualTo(8_100);
        assertThat(many.shorten(inode, 3050)).isTrue();
        many.truncate(inode, 3050);
        assertThat(Content.overlapping(records, inode, 0, Long.MAX_VALUE, 10))
                .hasSize(4)
                .last()
                .isEqualTo(new Piece(3000, 50, null, block(3, 100), 0));
        assertThat(inode.stored).isEqualTo(350);
        assertThat(inode.size).isEqualTo(3050);
    }

    @Test
    void cutsNothingOffAFileThatGrows() {
        Content many = batchesOf(16, records);
        scatter(many, 40);
        assertThat(many.shorten(inode, 1 << 20)).isTrue();
        assertThat(inode.extents).isEqualTo(40);
        assertThat(inode.size).isEqualTo(39_100);
    }

    /** A hole of the source is one look there, and all that it replaces at the target. */
    @Test
    void copiesOverABatchOfPiecesAtATime() {
        Content many = batchesOf(16, records);
        scatter(many, 40);
        Inode source = new Inode(43);
        source.mode = Mode.REGULAR | 0644;
        many.write(source, new Piece(0, 20_000, null, block(100, 20_000), 0));
        many.truncate(source, 1 << 20);
        List<Long> copied = new ArrayList<>();
        for (long at = 50; at < source.size; at += copied.getLast()) {
            copied.add(many.copy(source, at, inode, at, source.size - at, (_, _, _) -> true));
        }
        assertThat(copied).containsExactly(15_050L, 16_000L, (1L << 20) - 31_100);
        assertThat(Content.overlapping(records, inode, 0, Long.MAX_VALUE, 10))
                .containsExactly(
                        new Piece(0, 50, null, block(0, 100), 0),
                        new Piece(50, 19_950, null, block(100, 20_000), 50));
        assertThat(inode.size).isEqualTo(1 << 20);
        assertThat(inode.stored).isEqualTo(20_000);
    }

    /** Counts the steps that a look back takes over rows that were deleted. */
    private static final class HiddenRows extends MemoryRecords {
        private final NavigableSet<byte[]> deleted = new TreeSet<>(Arrays::compareUnsigned);
        private long steps;
        private long looks;

        @Override
        public void delete(Table table, byte[] key) {
            if (table == Table.EXTENT) {
                deleted.add(key);
            }
            super.delete(table, key);
        }

        @Override
        public @Nullable Row floor(Table table, byte[] prefix, byte[] at) {
            looks++;
            Row found = super.floor(table, prefix, at);
            byte[] from = found == null ? prefix : found.key();
            steps += deleted.subSet(from, false, at, true).size();
            return found;
        }

        @Override
        public void scanBack(Table table, byte[] prefix, byte[] from, Visitor visitor) {
            looks++;
            byte[][] at = {from};
            boolean[] first = {true};
            super.scanBack(
                    table,
                    prefix,
                    from,
                    (key, value) -> {
                        // The row before was passed when it was visited.
                        steps += deleted.subSet(key, false, at[0], first[0]).size();
                        first[0] = false;
                        at[0] = key;
                        return visitor.visit(key, value);
                    });
        }
    }
}
