package org.globalfs.datastore.erasure;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Coder on the Vector API, by products of half bytes looked up with selectFrom, which is one
 * instruction on processors that permute the bytes of a whole vector (AVX-512 VBMI, SVE). Others
 * take many for it: {@link CoderChoice} measures.
 *
 * <p>Up to three rows at a time, so that inputs are read and split once for them. The methods are
 * small because the JIT stops inlining vector operations in big ones, which costs a factor of ten.
 */
final class LookupCoder implements Coder {
    private static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int STRIDE = Rows.MASK_STRIDE;
    private static final byte HALF = 0x0f;

    @Override
    public String name() {
        return "lookup";
    }

    @Override
    public void multiply(
            Rows rows, byte[][] input, int[] inputAt, byte[][] output, int[] outputAt, int length) {
        int vectorized = length - length % LANES;
        if (vectorized > 0) {
            int r = 0;
            for (; r + 2 < rows.count(); r += 3) {
                three(rows, r, input, inputAt, output, outputAt, vectorized);
            }
            if (r + 1 < rows.count()) {
                two(rows, r, input, inputAt, output, outputAt, vectorized);
            } else if (r < rows.count()) {
                one(rows, r, input, inputAt, output[r], outputAt[r], vectorized);
            }
        }
        if (vectorized < length) {
            TableCoder.multiply(rows, input, inputAt, output, outputAt, vectorized, length);
        }
    }

    /** The products of a vector's bytes, split into low and high halves, with the factor at. */
    private static ByteVector add(
            ByteVector sum, ByteVector low, ByteVector high, byte[] tables, int at) {
        ByteVector ofLow = low.selectFrom(ByteVector.fromArray(SPECIES, tables, at));
        ByteVector ofHigh = high.selectFrom(ByteVector.fromArray(SPECIES, tables, at + STRIDE));
        return sum.lanewise(VectorOperators.XOR, ofLow).lanewise(VectorOperators.XOR, ofHigh);
    }

    private static ByteVector high(ByteVector v) {
        return v.lanewise(VectorOperators.LSHR, 4);
    }

    private static void three(
            Rows rows,
            int row,
            byte[][] input,
            int[] inputAt,
            byte[][] output,
            int[] outputAt,
            int length) {
        byte[] tables = rows.halfTables();
        int columns = rows.columns();
        int next = columns * 2 * STRIDE;
        int first = row * next;
        for (int b = 0; b < length; b += LANES) {
            ByteVector sum0 = ByteVector.zero(SPECIES);
            ByteVector sum1 = ByteVector.zero(SPECIES);
            ByteVector sum2 = ByteVector.zero(SPECIES);
            for (int c = 0; c < columns; c++) {
                ByteVector v = ByteVector.fromArray(SPECIES, input[c], inputAt[c] + b);
                ByteVector low = v.and(HALF);
                ByteVector high = high(v);
                int at = first + c * 2 * STRIDE;
                sum0 = add(sum0, low, high, tables, at);
                sum1 = add(sum1, low, high, tables, at + next);
                sum2 = add(sum2, low, high, tables, at + 2 * next);
            }
            sum0.intoArray(output[row], outputAt[row] + b);
            sum1.intoArray(output[row + 1], outputAt[row + 1] + b);
            sum2.intoArray(output[row + 2], outputAt[row + 2] + b);
        }
    }

    private static void two(
            Rows rows,
            int row,
            byte[][] input,
            int[] inputAt,
            byte[][] output,
            int[] outputAt,
            int length) {
        byte[] tables = rows.halfTables();
        int columns = rows.columns();
        int next = columns * 2 * STRIDE;
        int first = row * next;
        for (int b = 0; b < length; b += LANES) {
            ByteVector sum0 = ByteVector.zero(SPECIES);
            ByteVector sum1 = ByteVector.zero(SPECIES);
            for (int c = 0; c < columns; c++) {
                ByteVector v = ByteVector.fromArray(SPECIES, input[c], inputAt[c] + b);
                ByteVector low = v.and(HALF);
                ByteVector high = high(v);
                int at = first + c * 2 * STRIDE;
                sum0 = add(sum0, low, high, tables, at);
                sum1 = add(sum1, low, high, tables, at + next);
            }
            sum0.intoArray(output[row], outputAt[row] + b);
            sum1.intoArray(output[row + 1], outputAt[row + 1] + b);
        }
    }

    private static void one(
            Rows rows,
            int row,
            byte[][] input,
            int[] inputAt,
            byte[] output,
            int outputAt,
            int length) {
        byte[] tables = rows.halfTables();
        int columns = rows.columns();
        int first = row * columns * 2 * STRIDE;
        for (int b = 0; b < length; b += LANES) {
            ByteVector sum = ByteVector.zero(SPECIES);
            for (int c = 0; c < columns; c++) {
                ByteVector v = ByteVector.fromArray(SPECIES, input[c], inputAt[c] + b);
                sum = add(sum, v.and(HALF), high(v), tables, first + c * 2 * STRIDE);
            }
            sum.intoArray(output, outputAt + b);
        }
    }
}
