package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.globalfs.datastore.client.RangePieces.Piece;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.junit.jupiter.api.Test;

/** Ranges of a block of four data chunks, made from whichever columns came. */
class ColumnsTest {
    private static final int CHUNK_BYTES = 1_000;
    private static final int CONTENT_BYTES = 4 * CHUNK_BYTES;
    private static final int INTO_AT = 5;

    private final ReedSolomon code = ReedSolomon.of(4, 2);
    private final Random random = new Random(1964);
    private final byte[] chunks = new byte[6 * CHUNK_BYTES];

    ColumnsTest() {
        random.nextBytes(chunks);
        code.encode(chunks, CHUNK_BYTES);
    }

    private static RangePieces range(int from, int to) {
        byte[] into = new byte[INTO_AT + to - from];
        return new RangePieces(4, CHUNK_BYTES, from, to - from, into, INTO_AT);
    }

    private Columns columnsFor(RangePieces pieces) {
        return new Columns(code, pieces.missingFrom(), pieces.missingTo());
    }

    /** As it comes: with more before it. */
    private void keep(Columns columns, int chunk, int before) {
        byte[] bytes = new byte[before + columns.width()];
        System.arraycopy(
                chunks, chunk * CHUNK_BYTES + columns.from(), bytes, before, columns.width());
        columns.keep(chunk, bytes, before);
    }

    private void fetchDirectly(RangePieces pieces, Piece piece) {
        int at = piece.chunk * CHUNK_BYTES + piece.from;
        System.arraycopy(chunks, at, pieces.into(), piece.at, piece.bytes());
        piece.done = true;
    }

    private void assertRead(RangePieces pieces, int from, int to) {
        assertThat(pieces.allDone()).isTrue();
        assertThat(Arrays.copyOfRange(pieces.into(), INTO_AT, INTO_AT + to - from))
                .isEqualTo(Arrays.copyOfRange(chunks, from, to));
        assertThat(pieces.into()).startsWith(new byte[INTO_AT]);
    }

    @Test
    void anyRangeIsMadeFromAnyFourColumns() {
        for (int i = 0; i < 2_000; i++) {
            int from = random.nextInt(CONTENT_BYTES);
            int to = from + 1 + random.nextInt(CONTENT_BYTES - from);
            RangePieces pieces = range(from, to);
            List<Piece> some = new ArrayList<>(pieces.all());
            Collections.shuffle(some, random);
            some.subList(0, random.nextInt(some.size()))
                    .forEach(piece -> fetchDirectly(pieces, piece));
            Columns columns = columnsFor(pieces);
            List<Integer> order = new ArrayList<>(List.of(0, 1, 2, 3, 4, 5));
            Collections.shuffle(order, random);
            for (int chunk : order.subList(0, 4)) {
                keep(columns, chunk, random.nextInt(3));
            }
            assertThat(columns.suffice(pieces)).isTrue();
            columns.deliver(pieces);
            assertRead(pieces, from, to);
        }
    }

    @Test
    void theColumnsOfTheRangeItselfSuffice() {
        RangePieces pieces = range(900, 2_100);
        Columns columns = columnsFor(pieces);
        assertThat(columns.width()).isEqualTo(CHUNK_BYTES); // from the end of one, to another's
        for (int chunk = 0; chunk < 3; chunk++) {
            assertThat(columns.suffice(pieces)).isFalse();
            keep(columns, chunk, 0);
        }
        assertThat(columns.suffice(pieces)).isTrue();
        columns.deliver(pieces);
        assertRead(pieces, 900, 2_100);
    }

    @Test
    void nothingIsNeededOfWhatIsDone() {
        RangePieces pieces = range(900, 2_100);
        fetchDirectly(pieces, pieces.all().getFirst());
        Columns columns = columnsFor(pieces);
        keep(columns, 1, 0);
        keep(columns, 2, 0);
        assertThat(columns.suffice(pieces)).isTrue();
        columns.deliver(pieces);
        assertRead(pieces, 900, 2_100);
    }

    @Test
    void otherColumnsDoNotSufficeWithoutAFourth() {
        RangePieces pieces = range(0, 500);
        Columns columns = columnsFor(pieces);
        for (int chunk = 1; chunk < 4; chunk++) {
            keep(columns, chunk, 0);
            assertThat(columns.suffice(pieces)).isFalse();
        }
        keep(columns, 5, 0);
        assertThat(columns.suffice(pieces)).isTrue();
    }

    @Test
    void whatIsDoneIsNotWrittenAgain() {
        RangePieces pieces = range(0, 2_000);
        Piece first = pieces.all().getFirst();
        first.done = true; // its reader has it already, and may be using it
        Columns columns = columnsFor(pieces);
        for (int chunk = 2; chunk < 6; chunk++) {
            keep(columns, chunk, 0);
        }
        columns.deliver(pieces);
        assertThat(pieces.allDone()).isTrue();
        assertThat(Arrays.copyOfRange(pieces.into(), first.at, first.at + first.bytes()))
                .containsOnly(0);
    }
}
