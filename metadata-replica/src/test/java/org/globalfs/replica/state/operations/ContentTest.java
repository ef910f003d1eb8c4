package org.globalfs.replica.state.operations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Piece;
import org.globalfs.replica.state.model.Table;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Content maps against byte arrays. */
final class ContentTest {

    private static final int MAX = 100_000;

    private final MemoryRecords records = new MemoryRecords();
    private final Counters counters = new Counters(1);
    private final Content content = new Content(records, counters);
    private final Inode inode = new Inode(42);
    private byte[] model = {};

    ContentTest() {
        inode.mode = Mode.REGULAR | 0644;
    }

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14})
    void equalsAByteArray(long seed) {
        System.out.println("content map: seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 4000; i++) {
            if (random.nextInt(10) == 0) {
                int size = random.nextInt(MAX);
                content.truncate(inode, size);
                model = Arrays.copyOf(model, size);
            } else {
                write(random);
            }
            if (i % 20 == 0) {
                check();
            }
        }
        content.truncate(inode, 0);
        model = new byte[0];
        check();
        assertThat(records.table(Table.BLOCK)).isEmpty();
        assertThat(counters.bytes).isZero();
        assertThat(counters.doomed).isEqualTo(records.table(Table.DOOMED).size());
    }

    private void write(Random random) {
        int[] sizes = {10, 500, Limits.INLINE_MAX};
        int length = 1 + random.nextInt(sizes[random.nextInt(3)]);
        boolean near = random.nextBoolean() && model.length > 0 && model.length + length < MAX;
        int offset = near ? model.length : random.nextInt(MAX - length);
        if (offset + length > model.length) {
            model = Arrays.copyOf(model, offset + length);
        }
        byte[] data = new byte[length];
        if (random.nextInt(3) > 0) {
            random.nextBytes(data);
            content.write(inode, new Piece(offset, length, data, null, 0));
        } else {
            BlockRef block = block(random.nextLong(), length + 10);
            for (int i = 0; i < length; i++) {
                data[i] = byteOf(block, i + 3);
            }
            content.write(inode, new Piece(offset, length, null, block, 3));
        }
        System.arraycopy(data, 0, model, offset, length);
    }

    private static BlockRef block(long id, int length) {
        return new BlockRef(1, id, length, 1, (byte) 4, (byte) 2, 1);
    }

    private static byte byteOf(BlockRef block, int position) {
        return (byte) (block.getIdLow() * 17 + position * 5L);
    }

    private void check() {
        byte[] bytes = new byte[model.length];
        Map<Long, Integer> references = new HashMap<>();
        long end = 0;
        long stored = 0;
        List<Piece> pieces = Content.overlapping(records, inode, 0, Long.MAX_VALUE);
        for (Piece piece : pieces) {
            assertThat(piece.offset()).isGreaterThanOrEqualTo(end);
            end = piece.end();
            stored += piece.length();
            byte[] data = piece.data();
            BlockRef block = piece.block();
            for (int i = 0; i < piece.length(); i++) {
                bytes[(int) piece.offset() + i] =
                        data != null
                                ? data[i]
                                : byteOf(Objects.requireNonNull(block), piece.blockOffset() + i);
            }
            if (block != null) {
                references.merge(block.getIdLow(), 1, Integer::sum);
            } else {
                assertThat(piece.length()).isLessThanOrEqualTo(Limits.INLINE_MAX);
            }
        }
        assertThat(bytes).isEqualTo(model);
        assertThat(end).isLessThanOrEqualTo(model.length);
        assertThat(inode.size).isEqualTo(model.length);
        assertThat(inode.extents).isEqualTo(pieces.size());
        assertThat(inode.stored).isEqualTo(stored).isEqualTo(counters.bytes);
        Map<Long, Integer> counted = new HashMap<>();
        records.table(Table.BLOCK)
                .forEach((key, value) ->
                        counted.put(
                                Blocks.decode(value).getIdLow(), (int) Blocks.references(value)));
        assertThat(counted).isEqualTo(references);
    }

    @Test
    void smallAppendsGrowIntoOnePiece() {
        for (int i = 0; i < Limits.INLINE_MAX / 16; i++) {
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
        assertThat(content.isDoomed(block)).isTrue();
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
}
