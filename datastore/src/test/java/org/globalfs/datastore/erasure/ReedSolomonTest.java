package org.globalfs.datastore.erasure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ReedSolomonTest {
    private static final long NO_LIMIT = Long.MAX_VALUE / 2;
    private static final long SEED = 20261121;
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
    void anyNineOfTwelveGiveAll() {
        everyLossIsRebuilt(ReedSolomon.of(9, 3), 128);
    }

    private static void everyLossIsRebuilt(ReedSolomon code, int length) {
        Random random = new Random(SEED);
        byte[] chunks = new byte[code.chunks() * length];
        random.nextBytes(chunks);
        code.encode(TABLE, chunks, length);
        for (int mask = 0; mask < 1 << code.chunks(); mask++) {
            if (Integer.bitCount(mask) != code.dataChunks()) {
                continue;
            }
            List<Integer> lost = new ArrayList<>();
            int[] available = new int[code.dataChunks()];
            int n = 0;
            for (int i = 0; i < code.chunks(); i++) {
                if ((mask >> i & 1) == 1) {
                    available[n++] = i;
                } else {
                    lost.add(i);
                }
            }
            int[] wanted = lost.stream().mapToInt(i -> i).toArray();
            for (Coder coder : List.of(TABLE, VECTOR, LOOKUP)) {
                byte[][] input = new byte[available.length][];
                int[] inputAt = new int[available.length];
                for (int i = 0; i < available.length; i++) {
                    input[i] = chunks;
                    inputAt[i] = available[i] * length;
                }
                byte[][] output = new byte[wanted.length][length];
                code.rebuild(
                        coder,
                        available,
                        input,
                        inputAt,
                        wanted,
                        output,
                        new int[wanted.length],
                        length);
                for (int i = 0; i < wanted.length; i++) {
                    byte[] expected =
                            Arrays.copyOfRange(
                                    chunks, wanted[i] * length, (wanted[i] + 1) * length);
                    assertThat(output[i]).as(coder.name() + " lost " + lost).isEqualTo(expected);
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
