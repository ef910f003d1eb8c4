package org.globalfs.replica.state.operations;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.Mode;
import org.globalfs.replica.state.model.Piece;
import org.globalfs.replica.state.model.Table;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Content maps of two files against arrays of bytes, under random sequences of everything. */
final class ContentModelTest {

    private static final int MAX = 100_000;

    private final MemoryRecords records = new MemoryRecords();
    private final Counters counters = new Counters(1);

    /** So few that allocating, punching and copying often stop in the middle. */
    private final Content content = new Content(records, counters, 5);

    /** What a byte of a file is. */
    private enum Kind {
        HOLE,
        UNWRITTEN,
        DATA
    }

    /** A file, and what it should be; the arrays go beyond the size. */
    private static final class File {
        final Inode inode;
        final byte[] bytes = new byte[MAX];
        final Kind[] kinds = new Kind[MAX];
        int size;

        File(long ino) {
            inode = new Inode(ino);
            inode.mode = Mode.REGULAR | 0644;
            Arrays.fill(kinds, Kind.HOLE);
        }

        void set(int from, int to, Kind kind) {
            Arrays.fill(bytes, from, to, (byte) 0);
            Arrays.fill(kinds, from, to, kind);
        }
    }

    private final File[] files = {new File(42), new File(43)};

    @ParameterizedTest
    @ValueSource(longs = {11, 12, 13, 14, 15, 16})
    void equalsByteArrays(long seed) {
        System.out.println("content maps: seed " + seed);
        Random random = new Random(seed);
        for (int i = 0; i < 3000; i++) {
            File file = files[random.nextInt(2)];
            int from = random.nextInt(MAX - 1);
            int to = from + 1 + random.nextInt(Math.min(MAX - from, 40_000));
            switch (random.nextInt(12)) {
                case 0 -> truncate(file, random.nextInt(MAX));
                case 1, 2 -> allocate(file, from, to, random.nextBoolean());
                case 3, 4 -> punch(file, from, to);
                case 5 -> {
                    int until = punch(file, from, to);
                    allocate(file, from, until, random.nextBoolean());
                }
                case 6, 7, 8 -> copy(random, file, from, to);
                default -> write(random, file);
            }
            if (i % 10 == 0) {
                check();
            }
        }
        for (File file : files) {
            truncate(file, 0);
        }
        check();
        assertThat(records.table(Table.BLOCK)).isEmpty();
        assertThat(counters.bytes).isZero();
        assertThat(counters.doomed).isEqualTo(records.table(Table.DOOMED).size());
    }

    private void truncate(File file, int size) {
        content.truncate(file.inode, size);
        file.set(size, MAX, Kind.HOLE);
        file.size = size;
    }

    private void allocate(File file, int from, int to, boolean keepSize) {
        long expected = file.inode.stored + content.missing(file.inode, from, to);
        int until = (int) content.allocate(file.inode, from, to, keepSize);
        assertThat(file.inode.stored).isEqualTo(expected);
        assertThat(until).isGreaterThan(from).isLessThanOrEqualTo(to);
        for (int i = from; i < until; i++) {
            if (file.kinds[i] == Kind.HOLE) {
                file.kinds[i] = Kind.UNWRITTEN;
            }
        }
        if (!keepSize) {
            file.size = Math.max(file.size, until);
        }
    }

    private int punch(File file, int from, int to) {
        int until = (int) content.punch(file.inode, from, to);
        assertThat(until).isGreaterThan(from).isLessThanOrEqualTo(to);
        file.set(from, until, Kind.HOLE);
        return until;
    }

    private void copy(Random random, File target, int from, int to) {
        File source = files[random.nextInt(2)];
        int at = random.nextInt(MAX);
        int length = Math.min(to - from, MAX - at);
        if (source == target && Math.abs(from - at) < length) {
            return;
        }
        long[] expected = {target.inode.stored};
        Content.Room room =
                (file, atMost, exactly) -> {
                    assertThat(exactly.getAsLong()).isLessThanOrEqualTo(atMost);
                    expected[0] += exactly.getAsLong();
                    return true;
                };
        int copied = (int) content.copy(source.inode, at, target.inode, from, length, room);
        assertThat(target.inode.stored).isEqualTo(expected[0]);
        int most = Math.max(0, Math.min(length, source.size - at));
        assertThat(copied).isBetween(Math.min(1, most), most);
        for (int i = 0; i < copied; i++) {
            boolean data = source.kinds[at + i] == Kind.DATA;
            target.bytes[from + i] = source.bytes[at + i];
            target.kinds[from + i] = data ? Kind.DATA : Kind.HOLE;
        }
        if (copied > 0) {
            target.size = Math.max(target.size, from + copied);
        }
    }

    private void write(Random random, File file) {
        int[] sizes = {10, 500, Limits.JOINED_MAX, Limits.INLINE_MAX};
        int length = 1 + random.nextInt(sizes[random.nextInt(3)]);
        boolean near = random.nextBoolean() && file.size > 0 && file.size + length < MAX;
        int offset = near ? file.size : random.nextInt(MAX - length);
        byte[] data = new byte[length];
        if (random.nextInt(3) > 0) {
            random.nextBytes(data);
            content.write(file.inode, new Piece(offset, length, data, null, 0));
        } else {
            BlockRef block =
                    new BlockRef(1, random.nextLong(), length + 10, 1, (byte) 4, (byte) 2, 1);
            for (int i = 0; i < length; i++) {
                data[i] = byteOf(block, i + 3);
            }
            int half = length / 2;
            if (half > 0 && random.nextBoolean()) {
                content.write(file.inode, new Piece(offset, half, null, block, 3));
                content.write(
                        file.inode, new Piece(offset + half, length - half, null, block, 3 + half));
            } else {
                content.write(file.inode, new Piece(offset, length, null, block, 3));
            }
        }
        System.arraycopy(data, 0, file.bytes, offset, length);
        Arrays.fill(file.kinds, offset, offset + length, Kind.DATA);
        file.size = Math.max(file.size, offset + length);
    }

    private static byte byteOf(BlockRef block, int position) {
        return (byte) (block.getIdLow() * 17 + position * 5L);
    }

    private void check() {
        Map<Long, Integer> references = new HashMap<>();
        long stored = 0;
        for (File file : files) {
            stored += check(file, references);
        }
        assertThat(counters.bytes).isEqualTo(stored);
        Map<Long, Integer> counted = new HashMap<>();
        records.table(Table.BLOCK)
                .forEach((key, value) ->
                        counted.put(
                                Blocks.decode(value).getIdLow(), (int) Blocks.references(value)));
        assertThat(counted).isEqualTo(references);
    }

    private long check(File file, Map<Long, Integer> references) {
        byte[] bytes = new byte[MAX];
        Kind[] kinds = new Kind[MAX];
        Arrays.fill(kinds, Kind.HOLE);
        long stored = 0;
        List<Piece> pieces =
                Content.overlapping(records, file.inode, 0, Long.MAX_VALUE, Integer.MAX_VALUE);
        Piece before = Piece.unwritten(-1, -1);
        for (Piece piece : pieces) {
            assertThat(piece.offset()).isGreaterThanOrEqualTo(before.end());
            if (piece.offset() == before.end()) {
                assertThat(piece.isUnwritten() && before.isUnwritten()).isFalse();
            }
            before = piece;
            stored += piece.length();
            copyTo(piece, bytes, kinds);
            BlockRef block = piece.block();
            if (block != null) {
                references.merge(block.getIdLow(), 1, Integer::sum);
            }
        }
        assertThat(bytes).isEqualTo(file.bytes);
        assertThat(kinds).isEqualTo(file.kinds);
        assertThat(file.inode.size).isEqualTo(file.size);
        assertThat(file.inode.extents).isEqualTo(pieces.size());
        assertThat(file.inode.stored).isEqualTo(stored);
        boolean beyond = !pieces.isEmpty() && pieces.getLast().end() > file.size;
        assertThat(beyond && (file.inode.flags & Inode.RESERVED) == 0).isFalse();
        return stored;
    }

    private static void copyTo(Piece piece, byte[] bytes, Kind[] kinds) {
        byte[] data = piece.data();
        BlockRef block = piece.block();
        int at = (int) piece.offset();
        Arrays.fill(kinds, at, (int) piece.end(), piece.isUnwritten() ? Kind.UNWRITTEN : Kind.DATA);
        if (data != null) {
            assertThat(data.length).isLessThanOrEqualTo(Limits.INLINE_MAX);
            System.arraycopy(data, 0, bytes, at, data.length);
        } else if (block != null) {
            for (int i = 0; i < piece.length(); i++) {
                bytes[at + i] = byteOf(block, piece.blockOffset() + i);
            }
        }
    }
}
