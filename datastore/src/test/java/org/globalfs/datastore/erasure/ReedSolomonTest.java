package org.globalfs.datastore.erasure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReedSolomonTest {
    private static final long NO_LIMIT = Long.MAX_VALUE / 2;
    private static final long SEED = 20261121;
    private static final int MOST_OF_ALL_PATTERNS = 12;
    private static final int MOST_PARITY = 8;

    /** Vectors and what is left of them. */
    private static final int SHORT = 64 + 16 + 5;

    private static final Coder TABLE = new TableCoder();
    private static final Coder VECTOR = new VectorCoder();
    private static final Coder LOOKUP = new LookupCoder();

    @Test
    void cauchyMatrixIsTheDocumentedOne() {
        byte[][] matrix = CodeMatrix.cauchy(4, 2);
        assertThat(matrix[0]).containsExactly(1, 0, 0, 0);
        assertThat(matrix[3]).containsExactly(0, 0, 0, 1);
        // inverses of 4, 5, 6, 7 under 0x11d, as ISA-L's table has them
        assertThat(matrix[4]).containsExactly(0x47, 0xa7, 0x7a, 0xba);
        assertThat(matrix[5]).containsExactly(0xa7, 0x47, 0xba, 0x7a);
    }

    @Test
    void everyElementTimesItsInverseIsOne() {
        for (int a = 1; a < 256; a++) {
            assertThat(GaloisField.multiply(a, GaloisField.inverse(a))).isEqualTo(1);
        }
    }

    @Test
    void codersGiveTheSameBytes() {
        Random random = new Random(SEED);
        for (int[] shape :
                new int[][] {
                    {4, 2}, {9, 3}, {2, 1}, {1, 2}, {6, 3}, {4, 1}, {5, 4}, {7, 5}, {8, 8}
                }) {
            ReedSolomon code = ReedSolomon.of(shape[0], shape[1]);
            for (int length : new int[] {1, 63, 64, 65, 128, 1000, 4096, 65_600}) {
                byte[] one = new byte[code.chunks() * length];
                random.nextBytes(one);
                byte[] other = one.clone();
                code.encode(TABLE, one, length);
                code.encode(VECTOR, other, length);
                byte[] third = other.clone();
                Arrays.fill(third, shape[0] * length, third.length, (byte) 0);
                code.encode(LOOKUP, third, length);
                assertThat(other).as("RS%s of %d", Arrays.toString(shape), length).isEqualTo(one);
                assertThat(third).as("RS%s of %d", Arrays.toString(shape), length).isEqualTo(one);
            }
        }
    }

    @Test
    void oneParityChunkIsWhatAllOfThemHave() {
        Random random = new Random(SEED);
        for (int[] shape : new int[][] {{4, 2}, {9, 3}, {1, 2}, {6, 3}}) {
            ReedSolomon code = ReedSolomon.of(shape[0], shape[1]);
            byte[] chunks = new byte[code.chunks() * 640];
            random.nextBytes(chunks);
            byte[] data = Arrays.copyOf(chunks, code.dataChunks() * 640);
            code.encode(TABLE, chunks, 640);
            for (int i = code.dataChunks(); i < code.chunks(); i++) {
                assertThat(code.parity(data, 640, i))
                        .isEqualTo(Arrays.copyOfRange(chunks, i * 640, (i + 1) * 640));
            }
        }
    }

    @Test
    void anyFourOfSixGiveAll() {
        everyLossIsRebuilt(ReedSolomon.of(4, 2), 640);
    }

    @Test
    void anyKGiveAllWhateverTheCode() {
        for (int k = 1; k <= MOST_OF_ALL_PATTERNS; k++) {
            for (int m = 1; m <= MOST_PARITY && k + m <= MOST_OF_ALL_PATTERNS; m++) {
                everyLossIsRebuilt(ReedSolomon.of(k, m), SHORT);
            }
        }
    }

    private static void everyLossIsRebuilt(ReedSolomon code, int length) {
        byte[] chunks = encoded(code, length, new Random(SEED));
        for (long mask = 0; mask < 1L << code.chunks(); mask++) {
            if (Long.bitCount(mask) == code.dataChunks()) {
                rebuildsAllButThese(code, chunks, length, mask);
            }
        }
    }

    /** Too many patterns to try them all. */
    @Test
    void someOfManyGiveAll() {
        Random random = new Random(SEED);
        List<ReedSolomon> codes =
                new ArrayList<>(List.of(ReedSolomon.of(32, 8), ReedSolomon.of(56, 8)));
        for (int i = 0; i < 20; i++) {
            codes.add(ReedSolomon.of(12 + random.nextInt(21), 1 + random.nextInt(MOST_PARITY)));
        }
        for (ReedSolomon code : codes) {
            byte[] chunks = encoded(code, SHORT, random);
            for (int i = 0; i < 50; i++) {
                rebuildsAllButThese(code, chunks, SHORT, someOf(code, random));
            }
        }
    }

    /** As many chunks as there are data chunks, a bit by index. */
    private static long someOf(ReedSolomon code, Random random) {
        long mask = 0;
        while (Long.bitCount(mask) < code.dataChunks()) {
            mask |= 1L << random.nextInt(code.chunks());
        }
        return mask;
    }

    private static byte[] encoded(ReedSolomon code, int length, Random random) {
        byte[] chunks = new byte[code.chunks() * length];
        random.nextBytes(chunks);
        code.encode(TABLE, chunks, length);
        return chunks;
    }

    /**
     * Each coder makes all others from these chunks.
     *
     * @param there a bit by index
     */
    private static void rebuildsAllButThese(
            ReedSolomon code, byte[] chunks, int length, long there) {
        int[] available =
                IntStream.range(0, code.chunks()).filter(i -> (there >> i & 1) == 1).toArray();
        int[] lost = IntStream.range(0, code.chunks()).filter(i -> (there >> i & 1) == 0).toArray();
        byte[][] input = new byte[available.length][];
        Arrays.fill(input, chunks);
        int[] inputAt = Arrays.stream(available).map(i -> i * length).toArray();
        for (Coder coder : List.of(TABLE, VECTOR, LOOKUP)) {
            byte[][] output = new byte[lost.length][length];
            code.rebuild(
                    coder, available, input, inputAt, lost, output, new int[lost.length], length);
            for (int i = 0; i < lost.length; i++) {
                if (!Arrays.equals(
                        output[i], 0, length, chunks, lost[i] * length, (lost[i] + 1) * length)) {
                    fail(
                            "%s, RS(%d,%d): chunk %d of lost %s",
                            coder.name(),
                            code.dataChunks(),
                            code.parityChunks(),
                            lost[i],
                            Arrays.toString(lost));
                }
            }
        }
    }

    @Test
    void rangeOfColumnsGivesTheSameRange() {
        ReedSolomon code = ReedSolomon.of(4, 2);
        int length = 1024;
        byte[] chunks = new byte[6 * length];
        new Random(SEED).nextBytes(chunks);
        code.encode(chunks, length);
        int from = 100;
        int bytes = 77;
        byte[][] input = {chunks, chunks, chunks, chunks};
        int[] inputAt = {from, 2 * length + from, 4 * length + from, 5 * length + from};
        byte[][] output = {new byte[bytes], new byte[bytes]};
        int[] available = {0, 2, 4, 5};
        code.rebuild(available, input, inputAt, new int[] {1, 3}, output, new int[2], bytes);
        assertThat(output[0])
                .isEqualTo(Arrays.copyOfRange(chunks, length + from, length + from + bytes));
        assertThat(output[1])
                .isEqualTo(
                        Arrays.copyOfRange(chunks, 3 * length + from, 3 * length + from + bytes));
    }

    @Test
    void chunksAreEvenSharesRoundedUp() {
        ReedSolomon code = ReedSolomon.of(4, 2);
        assertThat(code.chunkBytes(1)).isEqualTo(64);
        assertThat(code.chunkBytes(256)).isEqualTo(64);
        assertThat(code.chunkBytes(257)).isEqualTo(128);
        assertThat(code.chunkBytes(4 << 20)).isEqualTo(1 << 20);
    }

    @Test
    void trialTellsRightFromWrong() {
        CoderTrial trial = new CoderTrial(NO_LIMIT);
        for (Coder coder : List.of(VECTOR, LOOKUP)) {
            assertThat(trial.same(coder, TABLE)).as(coder.name()).isTrue();
        }
        assertThat(trial.same(new WrongAtTheEnd(), TABLE)).isFalse();
    }

    /** One bit of the last byte of the last row is wrong. */
    private static final class WrongAtTheEnd implements Coder {
        @Override
        public String name() {
            return "wrong";
        }

        @Override
        public void multiply(
                Rows rows,
                byte[][] input,
                int[] inputAt,
                byte[][] output,
                int[] outputAt,
                int length) {
            TABLE.multiply(rows, input, inputAt, output, outputAt, length);
            int last = rows.count() - 1;
            output[last][outputAt[last] + length - 1] ^= 1;
        }
    }

    /** As vector coders are where the JVM has no optimising compiler. */
    @Test
    void warmingUpGivesUpOnACoderThatDoesNotGetFast() {
        assertThat(new CoderTrial(1).warmUp(new TableCoder())).isFalse();
        assertThat(new CoderTrial(NO_LIMIT).warmUp(new TableCoder())).isTrue();
    }

    @Test
    void choiceSettlesOnACoderThatWorks() throws InterruptedException {
        Coder coder = CoderChoice.settled();
        String asked = System.getProperty(CoderChoice.PROPERTY, "");
        List<String> expected = VectorCoder.fits() ? List.of("vector", "lookup") : List.of("table");
        assertThat(coder.name()).isIn(asked.isEmpty() ? expected : List.of(asked));
    }
}
