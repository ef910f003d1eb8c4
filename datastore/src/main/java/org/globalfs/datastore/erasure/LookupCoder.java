package org.globalfs.datastore.erasure;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Coder on the Vector API, by products of half bytes looked up with selectFrom, which is one
 * instruction on processors that permute the bytes of a whole vector (AVX-512 VBMI, SVE). Others
 * take many for it: {@link CoderChoice} measures.
 *
 * <p>Up to three rows and two columns at a time, so that their tables stay in registers. What that
 * gives is added up in the output, a short strip of all columns after the other: it stays in the
 * first cache meanwhile, and all inputs are read at once, which memory is faster at. The methods
 * are small because the JIT stops inlining vector operations in big ones, which costs a factor of
 * ten; a third column is too much.
 */
final class LookupCoder implements Coder {
    private static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int STRIDE = Rows.MASK_STRIDE;
    private static final int STRIP_BYTES = 1024;
    private static final int ROWS = 3;
    private static final byte HALF = 0x0f;

    /** By rows - 1. They set the output; the last ones add to it. */
    private static final Kernel[] SET_FROM_ONE = {
        LookupCoder::setOneFromOne, LookupCoder::setTwoFromOne, LookupCoder::setThreeFromOne
    };

    private static final Kernel[] SET = {
        LookupCoder::setOne, LookupCoder::setTwo, LookupCoder::setThree
    };

    private static final Kernel[] ADD = {
        LookupCoder::addOne, LookupCoder::addTwo, LookupCoder::addThree
    };

    /**
     * Multiplies two columns, x and y, or x alone, with the factors of up to three rows. Called
     * through an interface with many implementations because the JIT inlines none of these: two in
     * one method are too much for it.
     */
    private interface Kernel {
        void run(
                byte[] tables,
                int at,
                int nextRow,
                byte[] x,
                int xAt,
                byte[] y,
                int yAt,
                byte[] out0,
                int at0,
                byte[] out1,
                int at1,
                byte[] out2,
                int at2,
                int length);
    }

    @Override
    public String name() {
        return "lookup";
    }

    @Override
    public void multiply(
            Rows rows, byte[][] input, int[] inputAt, byte[][] output, int[] outputAt, int length) {
        int vectorized = length - length % LANES;
        byte[] tables = rows.halfTables();
        int nextRow = rows.halfTableAt(1, 0);
        int lastRow = rows.count() - 1;
        int lastColumn = rows.columns() - 1;
        for (int from = 0; from < vectorized; from += STRIP_BYTES) {
            int bytes = Math.min(STRIP_BYTES, vectorized - from);
            for (int r = 0; r <= lastRow; r += ROWS) {
                int r1 = Math.min(r + 1, lastRow);
                int r2 = Math.min(r + 2, lastRow);
                int c1;
                for (int c = 0; c <= lastColumn; c = c1 + 1) {
                    boolean alone = c == 0 && lastColumn % 2 == 0;
                    Kernel[] kernels = alone ? SET_FROM_ONE : c == 0 ? SET : ADD;
                    c1 = alone ? c : c + 1;
                    kernels[r2 - r].run(
                            tables,
                            rows.halfTableAt(r, c),
                            nextRow,
                            input[c],
                            inputAt[c] + from,
                            input[c1],
                            inputAt[c1] + from,
                            output[r],
                            outputAt[r] + from,
                            output[r1],
                            outputAt[r1] + from,
                            output[r2],
                            outputAt[r2] + from,
                            bytes);
                }
            }
        }
        if (vectorized < length) {
            TableCoder.multiply(rows, input, inputAt, output, outputAt, vectorized, length);
        }
    }

    private static ByteVector load(byte[] from, int at) {
        return ByteVector.fromArray(SPECIES, from, at);
    }

    private static ByteVector low(ByteVector v) {
        return v.and(HALF);
    }

    /** Bytes are shifted with their neighbours: there is no instruction for bytes alone. */
    private static ByteVector high(ByteVector v) {
        return v.reinterpretAsInts()
                .lanewise(VectorOperators.LSHR, 4)
                .reinterpretAsBytes()
                .and(HALF);
    }

    private static ByteVector xor(ByteVector a, ByteVector b) {
        return a.lanewise(VectorOperators.XOR, b);
    }

    /** The sum of four products: of x's and y's bytes, split into low and high halves. */
    private static ByteVector sum(
            ByteVector xl,
            ByteVector xLow,
            ByteVector xh,
            ByteVector xHigh,
            ByteVector yl,
            ByteVector yLow,
            ByteVector yh,
            ByteVector yHigh) {
        return xor(
                xor(xl.selectFrom(xLow), xh.selectFrom(xHigh)),
                xor(yl.selectFrom(yLow), yh.selectFrom(yHigh)));
    }

    private static void setThreeFromOne(
            byte[] tables,
            int at,
            int nextRow,
            byte[] x,
            int xAt,
            byte[] y,
            int yAt,
            byte[] out0,
            int at0,
            byte[] out1,
            int at1,
            byte[] out2,
            int at2,
            int length) {
        ByteVector low0 = load(tables, at);
        ByteVector high0 = load(tables, at + STRIDE);
        ByteVector low1 = load(tables, at + nextRow);
        ByteVector high1 = load(tables, at + nextRow + STRIDE);
        ByteVector low2 = load(tables, at + 2 * nextRow);
        ByteVector high2 = load(tables, at + 2 * nextRow + STRIDE);
        for (int b = 0; b < length; b += LANES) {
            ByteVector xs = load(x, xAt + b);
            ByteVector xl = low(xs);
            ByteVector xh = high(xs);
            xor(xl.selectFrom(low0), xh.selectFrom(high0)).intoArray(out0, at0 + b);
            xor(xl.selectFrom(low1), xh.selectFrom(high1)).intoArray(out1, at1 + b);
            xor(xl.selectFrom(low2), xh.selectFrom(high2)).intoArray(out2, at2 + b);
        }
    }

    private static void setTwoFromOne(
            byte[] tables,
            int at,
            int nextRow,
            byte[] x,
            int xAt,
            byte[] y,
            int yAt,
            byte[] out0,
            int at0,
            byte[] out1,
            int at1,
            byte[] out2,
            int at2,
            int length) {
        ByteVector low0 = load(tables, at);
        ByteVector high0 = load(tables, at + STRIDE);
        ByteVector low1 = load(tables, at + nextRow);
        ByteVector high1 = load(tables, at + nextRow + STRIDE);
        for (int b = 0; b < length; b += LANES) {
            ByteVector xs = load(x, xAt + b);
            ByteVector xl = low(xs);
            ByteVector xh = high(xs);
            xor(xl.selectFrom(low0), xh.selectFrom(high0)).intoArray(out0, at0 + b);
            xor(xl.selectFrom(low1), xh.selectFrom(high1)).intoArray(out1, at1 + b);
        }
    }

    private static void setOneFromOne(
            byte[] tables,
            int at,
            int nextRow,
            byte[] x,
            int xAt,
            byte[] y,
            int yAt,
            byte[] out0,
            int at0,
            byte[] out1,
            int at1,
            byte[] out2,
            int at2,
            int length) {
        ByteVector low0 = load(tables, at);
        ByteVector high0 = load(tables, at + STRIDE);
        for (int b = 0; b < length; b += LANES) {
            ByteVector xs = load(x, xAt + b);
            ByteVector xl = low(xs);
            ByteVector xh = high(xs);
            xor(xl.selectFrom(low0), xh.selectFrom(high0)).intoArray(out0, at0 + b);
        }
    }

    private static void setThree(
            byte[] tables,
            int at,
            int nextRow,
            byte[] x,
            int xAt,
            byte[] y,
            int yAt,
            byte[] out0,
            int at0,
            byte[] out1,
            int at1,
            byte[] out2,
            int at2,
            int length) {
        ByteVector xLow0 = load(tables, at);
        ByteVector xHigh0 = load(tables, at + STRIDE);
        ByteVector yLow0 = load(tables, at + 2 * STRIDE);
        ByteVector yHigh0 = load(tables, at + 3 * STRIDE);
        ByteVector xLow1 = load(tables, at + nextRow);
        ByteVector xHigh1 = load(tables, at + nextRow + STRIDE);
        ByteVector yLow1 = load(tables, at + nextRow + 2 * STRIDE);
        ByteVector yHigh1 = load(tables, at + nextRow + 3 * STRIDE);
        ByteVector xLow2 = load(tables, at + 2 * nextRow);
        ByteVector xHigh2 = load(tables, at + 2 * nextRow + STRIDE);
        ByteVector yLow2 = load(tables, at + 2 * nextRow + 2 * STRIDE);
        ByteVector yHigh2 = load(tables, at + 2 * nextRow + 3 * STRIDE);
        for (int b = 0; b < length; b += LANES) {
            ByteVector xs = load(x, xAt + b);
            ByteVector ys = load(y, yAt + b);
            ByteVector xl = low(xs);
            ByteVector xh = high(xs);
            ByteVector yl = low(ys);
            ByteVector yh = high(ys);
            sum(xl, xLow0, xh, xHigh0, yl, yLow0, yh, yHigh0).intoArray(out0, at0 + b);
            sum(xl, xLow1, xh, xHigh1, yl, yLow1, yh, yHigh1).intoArray(out1, at1 + b);
            sum(xl, xLow2, xh, xHigh2, yl, yLow2, yh, yHigh2).intoArray(out2, at2 + b);
        }
    }

    private static void addThree(
            byte[] tables,
            int at,
            int nextRow,
            byte[] x,
            int xAt,
            byte[] y,
            int yAt,
            byte[] out0,
            int at0,
            byte[] out1,
            int at1,
            byte[] out2,
            int at2,
            int length) {
        ByteVector xLow0 = load(tables, at);
        ByteVector xHigh0 = load(tables, at + STRIDE);
        ByteVector yLow0 = load(tables, at + 2 * STRIDE);
        ByteVector yHigh0 = load(tables, at + 3 * STRIDE);
        ByteVector xLow1 = load(tables, at + nextRow);
        ByteVector xHigh1 = load(tables, at + nextRow + STRIDE);
        ByteVector yLow1 = load(tables, at + nextRow + 2 * STRIDE);
        ByteVector yHigh1 = load(tables, at + nextRow + 3 * STRIDE);
        ByteVector xLow2 = load(tables, at + 2 * nextRow);
        ByteVector xHigh2 = load(tables, at + 2 * nextRow + STRIDE);
        ByteVector yLow2 = load(tables, at + 2 * nextRow + 2 * STRIDE);
        ByteVector yHigh2 = load(tables, at + 2 * nextRow + 3 * STRIDE);
        for (int b = 0; b < length; b += LANES) {
            ByteVector xs = load(x, xAt + b);
            ByteVector ys = load(y, yAt + b);
            ByteVector xl = low(xs);
            ByteVector xh = high(xs);
            ByteVector yl = low(ys);
            ByteVector yh = high(ys);
            xor(sum(xl, xLow0, xh, xHigh0, yl, yLow0, yh, yHigh0), load(out0, at0 + b))
                    .intoArray(out0, at0 + b);
            xor(sum(xl, xLow1, xh, xHigh1, yl, yLow1, yh, yHigh1), load(out1, at1 + b))
                    .intoArray(out1, at1 + b);
            xor(sum(xl, xLow2, xh, xHigh2, yl, yLow2, yh, yHigh2), load(out2, at2 + b))
                    .intoArray(out2, at2 + b);
        }
    }

    private static void setTwo(
            byte[] tables,
            int at,
            int nextRow,
            byte[] x,
            int xAt,
            byte[] y,
            int yAt,
            byte[] out0,
            int at0,
            byte[] out1,
            int at1,
            byte[] out2,
            int at2,
            int length) {
        ByteVector xLow0 = load(tables, at);
        ByteVector xHigh0 = load(tables, at + STRIDE);
        ByteVector yLow0 = load(tables, at + 2 * STRIDE);
        ByteVector yHigh0 = load(tables, at + 3 * STRIDE);
        ByteVector xLow1 = load(tables, at + nextRow);
        ByteVector xHigh1 = load(tables, at + nextRow + STRIDE);
        ByteVector yLow1 = load(tables, at + nextRow + 2 * STRIDE);
        ByteVector yHigh1 = load(tables, at + nextRow + 3 * STRIDE);
        for (int b = 0; b < length; b += LANES) {
            ByteVector xs = load(x, xAt + b);
            ByteVector ys = load(y, yAt + b);
            ByteVector xl = low(xs);
            ByteVector xh = high(xs);
            ByteVector yl = low(ys);
            ByteVector yh = high(ys);
            sum(xl, xLow0, xh, xHigh0, yl, yLow0, yh, yHigh0).intoArray(out0, at0 + b);
            sum(xl, xLow1, xh, xHigh1, yl, yLow1, yh, yHigh1).intoArray(out1, at1 + b);
        }
    }

    private static void addTwo(
            byte[] tables,
            int at,
            int nextRow,
            byte[] x,
            int xAt,
            byte[] y,
            int yAt,
            byte[] out0,
            int at0,
            byte[] out1,
            int at1,
            byte[] out2,
            int at2,
            int length) {
        ByteVector xLow0 = load(tables, at);
        ByteVector xHigh0 = load(tables, at + STRIDE);
        ByteVector yLow0 = load(tables, at + 2 * STRIDE);
        ByteVector yHigh0 = load(tables, at + 3 * STRIDE);
        ByteVector xLow1 = load(tables, at + nextRow);
        ByteVector xHigh1 = load(tables, at + nextRow + STRIDE);
        ByteVector yLow1 = load(tables, at + nextRow + 2 * STRIDE);
        ByteVector yHigh1 = load(tables, at + nextRow + 3 * STRIDE);
        for (int b = 0; b < length; b += LANES) {
            ByteVector xs = load(x, xAt + b);
            ByteVector ys = load(y, yAt + b);
            ByteVector xl = low(xs);
            ByteVector xh = high(xs);
            ByteVector yl = low(ys);
            ByteVector yh = high(ys);
            xor(sum(xl, xLow0, xh, xHigh0, yl, yLow0, yh, yHigh0), load(out0, at0 + b))
                    .intoArray(out0, at0 + b);
            xor(sum(xl, xLow1, xh, xHigh1, yl, yLow1, yh, yHigh1), load(out1, at1 + b))
                    .intoArray(out1, at1 + b);
        }
    }

    private static void setOne(
            byte[] tables,
            int at,
            int nextRow,
            byte[] x,
            int xAt,
            byte[] y,
            int yAt,
            byte[] out0,
            int at0,
            byte[] out1,
            int at1,
            byte[] out2,
            int at2,
            int length) {
        ByteVector xLow0 = load(tables, at);
        ByteVector xHigh0 = load(tables, at + STRIDE);
        ByteVector yLow0 = load(tables, at + 2 * STRIDE);
        ByteVector yHigh0 = load(tables, at + 3 * STRIDE);
        for (int b = 0; b < length; b += LANES) {
            ByteVector xs = load(x, xAt + b);
            ByteVector ys = load(y, yAt + b);
            ByteVector xl = low(xs);
            ByteVector xh = high(xs);
            ByteVector yl = low(ys);
            ByteVector yh = high(ys);
            sum(xl, xLow0, xh, xHigh0, yl, yLow0, yh, yHigh0).intoArray(out0, at0 + b);
        }
    }

    private static void addOne(
            byte[] tables,
            int at,
            int nextRow,
            byte[] x,
            int xAt,
            byte[] y,
            int yAt,
            byte[] out0,
            int at0,
            byte[] out1,
            int at1,
            byte[] out2,
            int at2,
            int length) {
        ByteVector xLow0 = load(tables, at);
        ByteVector xHigh0 = load(tables, at + STRIDE);
        ByteVector yLow0 = load(tables, at + 2 * STRIDE);
        ByteVector yHigh0 = load(tables, at + 3 * STRIDE);
        for (int b = 0; b < length; b += LANES) {
            ByteVector xs = load(x, xAt + b);
            ByteVector ys = load(y, yAt + b);
            ByteVector xl = low(xs);
            ByteVector xh = high(xs);
            ByteVector yl = low(ys);
            ByteVector yh = high(ys);
            xor(sum(xl, xLow0, xh, xHigh0, yl, yLow0, yh, yHigh0), load(out0, at0 + b))
                    .intoArray(out0, at0 + b);
        }
    }
}
