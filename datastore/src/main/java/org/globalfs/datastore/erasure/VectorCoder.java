package org.globalfs.datastore.erasure;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Coder on the Vector API, by Horner's rule over the bits of the factors: sum = 2 · sum + (the
 * inputs whose factor has this bit). Doubling is an add and a conditional xor of 0x1d; whether a
 * factor has a bit is a mask of all ones or zeros.
 *
 * <p>The usual way, products of half bytes looked up ({@link LookupCoder}), needs a byte permute as
 * wide as the vector. Processors without AVX-512 VBMI do not have it: there look-ups gave 1.0 GB/s
 * of data and this 5.4. The methods are small because the JIT stops inlining vector operations in
 * big ones, which costs a factor of ten; they work on byte[] because MemorySegment is 1.3 to 1.9
 * times slower.
 */
final class VectorCoder implements Coder {
    private static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int STRIDE = Rows.MASK_STRIDE;
    private static final ByteVector ZERO = ByteVector.zero(SPECIES);
    private static final ByteVector REDUCTION =
            ByteVector.broadcast(SPECIES, (byte) GaloisField.POLYNOMIAL);

    /** Whether this machine's vectors are wide enough for the vector coder to win. */
    static boolean fits() {
        return SPECIES.vectorBitSize() >= 256 && LANES <= STRIDE;
    }

    @Override
    public String name() {
        return "vector";
    }

    @Override
    public void multiply(
            Rows rows, byte[][] input, int[] inputAt, byte[][] output, int[] outputAt, int length) {
        int vectorized = length - length % LANES;
        if (vectorized > 0) {
            int r = 0;
            if (rows.columns() == 4) {
                for (; r + 1 < rows.count(); r += 2) {
                    pairOfFour(rows, r, input, inputAt, output, outputAt, vectorized);
                }
            }
            for (; r < rows.count(); r++) {
                if (rows.columns() == 4) {
                    oneOfFour(rows, r, input, inputAt, output[r], outputAt[r], vectorized);
                } else {
                    oneOfAny(rows, r, input, inputAt, output[r], outputAt[r], vectorized);
                }
            }
        }
        if (vectorized < length) {
            TableCoder.multiply(rows, input, inputAt, output, outputAt, vectorized, length);
        }
    }

    private static ByteVector twice(ByteVector v) {
        return v.add(v).lanewise(VectorOperators.XOR, ZERO.blend(REDUCTION, v.lt((byte) 0)));
    }

    private static ByteVector add(ByteVector sum, ByteVector v, byte[] masks, int at) {
        return sum.lanewise(VectorOperators.XOR, v.and(ByteVector.fromArray(SPECIES, masks, at)));
    }

    /** Two rows of four columns, the shape of RS(4,2)'s parity. */
    private static void pairOfFour(
            Rows rows,
            int row,
            byte[][] input,
            int[] inputAt,
            byte[][] output,
            int[] outputAt,
            int length) {
        byte[] masks = rows.bitMasks();
        int first = row * 8 * 4 * STRIDE;
        int second = first + 8 * 4 * STRIDE;
        for (int b = 0; b < length; b += LANES) {
            ByteVector v0 = ByteVector.fromArray(SPECIES, input[0], inputAt[0] + b);
            ByteVector v1 = ByteVector.fromArray(SPECIES, input[1], inputAt[1] + b);
            ByteVector v2 = ByteVector.fromArray(SPECIES, input[2], inputAt[2] + b);
            ByteVector v3 = ByteVector.fromArray(SPECIES, input[3], inputAt[3] + b);
            ByteVector sum0 = ByteVector.zero(SPECIES);
            ByteVector sum1 = ByteVector.zero(SPECIES);
            for (int bit = 0; bit < 8 * 4 * STRIDE; bit += 4 * STRIDE) {
                sum0 = twice(sum0);
                sum1 = twice(sum1);
                sum0 = add(sum0, v0, masks, first + bit);
                sum0 = add(sum0, v1, masks, first + bit + STRIDE);
                sum0 = add(sum0, v2, masks, first + bit + 2 * STRIDE);
                sum0 = add(sum0, v3, masks, first + bit + 3 * STRIDE);
                sum1 = add(sum1, v0, masks, second + bit);
                sum1 = add(sum1, v1, masks, second + bit + STRIDE);
                sum1 = add(sum1, v2, masks, second + bit + 2 * STRIDE);
                sum1 = add(sum1, v3, masks, second + bit + 3 * STRIDE);
            }
            sum0.intoArray(output[row], outputAt[row] + b);
            sum1.intoArray(output[row + 1], outputAt[row + 1] + b);
        }
    }

    private static void oneOfFour(
            Rows rows,
            int row,
            byte[][] input,
            int[] inputAt,
            byte[] output,
            int outputAt,
            int length) {
        byte[] masks = rows.bitMasks();
        int first = row * 8 * 4 * STRIDE;
        for (int b = 0; b < length; b += LANES) {
            ByteVector v0 = ByteVector.fromArray(SPECIES, input[0], inputAt[0] + b);
            ByteVector v1 = ByteVector.fromArray(SPECIES, input[1], inputAt[1] + b);
            ByteVector v2 = ByteVector.fromArray(SPECIES, input[2], inputAt[2] + b);
            ByteVector v3 = ByteVector.fromArray(SPECIES, input[3], inputAt[3] + b);
            ByteVector sum = ByteVector.zero(SPECIES);
            for (int bit = 0; bit < 8 * 4 * STRIDE; bit += 4 * STRIDE) {
                sum = twice(sum);
                sum = add(sum, v0, masks, first + bit);
                sum = add(sum, v1, masks, first + bit + STRIDE);
                sum = add(sum, v2, masks, first + bit + 2 * STRIDE);
                sum = add(sum, v3, masks, first + bit + 3 * STRIDE);
            }
            sum.intoArray(output, outputAt + b);
        }
    }

    private static void oneOfAny(
            Rows rows,
            int row,
            byte[][] input,
            int[] inputAt,
            byte[] output,
            int outputAt,
            int length) {
        byte[] masks = rows.bitMasks();
        int columns = rows.columns();
        int first = row * 8 * columns * STRIDE;
        for (int b = 0; b < length; b += LANES) {
            ByteVector sum = ByteVector.zero(SPECIES);
            for (int bit = 0; bit < 8; bit++) {
                sum = twice(sum);
                int at = first + bit * columns * STRIDE;
                for (int c = 0; c < columns; c++) {
                    ByteVector v = ByteVector.fromArray(SPECIES, input[c], inputAt[c] + b);
                    sum = add(sum, v, masks, at + c * STRIDE);
                }
            }
            sum.intoArray(output, outputAt + b);
        }
    }
}
