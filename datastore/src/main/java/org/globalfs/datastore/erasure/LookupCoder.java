package org.globalfs.datastore.erasure;

import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Coder on the Vector API, by products of half bytes looked up with selectFrom, which is one
 * instruction on processors that permute the bytes of a whole vector (AVX-512 VBMI, SVE). Others
 * take many for it: {@link CoderChoice} measures.
 *
 * <p>All columns are gone through side by side, two vectors of each, as memory is fastest when it
 * is read at many places at once and everywhere in order. What they add up to, for up to three
 * rows, stays in registers meanwhile; the tables come from the first cache. The methods are small
 * because the JIT stops inlining vector operations in big ones, which costs a factor of ten: four
 * vectors of each are too much for it.
 */
final class LookupCoder implements Coder {
    private static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED;
    private static final int LANES = SPECIES.length();
    private static final int STRIDE = Rows.MASK_STRIDE;
    private static final byte HALF = 0x0f;

    /** Of each column, before further rows read it again, from the second cache. */
    private static final int STRIP_BYTES = 4096;

    /** By rows - 1. */
    private static final Kernel[] KERNELS = {
        LookupCoder::one, LookupCoder::two, LookupCoder::three
    };

    /**
     * The sums of some rows, of which {@code row} is the first, in [from, to). Called through an
     * interface with many implementations because the JIT inlines none of these: two in one method
     * are too much for it. A row's tables take {@code perRow} bytes.
     */
    private interface Kernel {
        void run(
                byte[] tables,
                int perRow,
                byte[][] input,
                int[] inputAt,
                byte[][] output,
                int[] outputAt,
                int row,
                int from,
                int to);
    }

    @Override
    public String name() {
        return "lookup";
    }

    @Override
    public void multiply(
            Rows rows, byte[][] input, int[] inputAt, byte[][] output, int[] outputAt, int length) {
        int vectorized = length - length % (2 * LANES);
        byte[] tables = rows.halfTables();
        int perRow = rows.halfTableAt(1, 0);
        int strip = rows.count() <= KERNELS.length ? Math.max(1, vectorized) : STRIP_BYTES;
        for (int from = 0; from < vectorized; from += strip) {
            int to = Math.min(vectorized, from + strip);
            for (int r = 0; r < rows.count(); r += KERNELS.length) {
                int count = Math.min(KERNELS.length, rows.count() - r);
                KERNELS[count - 1].run(
                        tables, perRow, input, inputAt, output, outputAt, r, from, to);
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

    /** The sum, and the product of a column's bytes, split into low and high halves. */
    private static ByteVector add(
            ByteVector sum,
            ByteVector low,
            ByteVector lowTable,
            ByteVector high,
            ByteVector highTable) {
        return xor(sum, xor(low.selectFrom(lowTable), high.selectFrom(highTable)));
    }

    private static ByteVector xor(ByteVector a, ByteVector b) {
        return a.lanewise(VectorOperators.XOR, b);
    }

    private static void three(
            byte[] tables,
            int perRow,
            byte[][] input,
            int[] inputAt,
            byte[][] output,
            int[] outputAt,
            int row,
            int from,
            int to) {
        byte[] out0 = output[row];
        byte[] out1 = output[row + 1];
        byte[] out2 = output[row + 2];
        int at0 = outputAt[row];
        int at1 = outputAt[row + 1];
        int at2 = outputAt[row + 2];
        int columns = perRow / (2 * STRIDE);
        for (int b = from; b < to; b += 2 * LANES) {
            ByteVector x0 = ByteVector.zero(SPECIES);
            ByteVector y0 = ByteVector.zero(SPECIES);
            ByteVector x1 = ByteVector.zero(SPECIES);
            ByteVector y1 = ByteVector.zero(SPECIES);
            ByteVector x2 = ByteVector.zero(SPECIES);
            ByteVector y2 = ByteVector.zero(SPECIES);
            for (int c = 0; c < columns; c++) {
                int table = row * perRow + c * 2 * STRIDE;
                ByteVector x = load(input[c], inputAt[c] + b);
                ByteVector y = load(input[c], inputAt[c] + b + LANES);
                ByteVector xLow = low(x);
                ByteVector xHigh = high(x);
                ByteVector yLow = low(y);
                ByteVector yHigh = high(y);
                ByteVector low = load(tables, table);
                ByteVector high = load(tables, table + STRIDE);
                x0 = add(x0, xLow, low, xHigh, high);
                y0 = add(y0, yLow, low, yHigh, high);
                low = load(tables, table + perRow);
                high = load(tables, table + perRow + STRIDE);
                x1 = add(x1, xLow, low, xHigh, high);
                y1 = add(y1, yLow, low, yHigh, high);
                low = load(tables, table + 2 * perRow);
                high = load(tables, table + 2 * perRow + STRIDE);
                x2 = add(x2, xLow, low, xHigh, high);
                y2 = add(y2, yLow, low, yHigh, high);
            }
            x0.intoArray(out0, at0 + b);
            y0.intoArray(out0, at0 + b + LANES);
            x1.intoArray(out1, at1 + b);
            y1.intoArray(out1, at1 + b + LANES);
            x2.intoArray(out2, at2 + b);
            y2.intoArray(out2, at2 + b + LANES);
        }
    }

    private static void two(
            byte[] tables,
            int perRow,
            byte[][] input,
            int[] inputAt,
            byte[][] output,
            int[] outputAt,
            int row,
            int from,
            int to) {
        byte[] out0 = output[row];
        byte[] out1 = output[row + 1];
        int at0 = outputAt[row];
        int at1 = outputAt[row + 1];
        int columns = perRow / (2 * STRIDE);
        for (int b = from; b < to; b += 2 * LANES) {
            ByteVector x0 = ByteVector.zero(SPECIES);
            ByteVector y0 = ByteVector.zero(SPECIES);
            ByteVector x1 = ByteVector.zero(SPECIES);
            ByteVector y1 = ByteVector.zero(SPECIES);
            for (int c = 0; c < columns; c++) {
                int table = row * perRow + c * 2 * STRIDE;
                ByteVector x = load(input[c], inputAt[c] + b);
                ByteVector y = load(input[c], inputAt[c] + b + LANES);
                ByteVector xLow = low(x);
                ByteVector xHigh = high(x);
                ByteVector yLow = low(y);
                ByteVector yHigh = high(y);
                ByteVector low = load(tables, table);
                ByteVector high = load(tables, table + STRIDE);
                x0 = add(x0, xLow, low, xHigh, high);
                y0 = add(y0, yLow, low, yHigh, high);
                low = load(tables, table + perRow);
                high = load(tables, table + perRow + STRIDE);
                x1 = add(x1, xLow, low, xHigh, high);
                y1 = add(y1, yLow, low, yHigh, high);
            }
            x0.intoArray(out0, at0 + b);
            y0.intoArray(out0, at0 + b + LANES);
            x1.intoArray(out1, at1 + b);
            y1.intoArray(out1, at1 + b + LANES);
        }
    }

    private static void one(
            byte[] tables,
            int perRow,
            byte[][] input,
            int[] inputAt,
            byte[][] output,
            int[] outputAt,
            int row,
            int from,
            int to) {
        byte[] out = output[row];
        int outAt = outputAt[row];
        int columns = perRow / (2 * STRIDE);
        for (int b = from; b < to; b += 2 * LANES) {
            ByteVector x0 = ByteVector.zero(SPECIES);
            ByteVector y0 = ByteVector.zero(SPECIES);
            for (int c = 0; c < columns; c++) {
                int table = row * perRow + c * 2 * STRIDE;
                ByteVector x = load(input[c], inputAt[c] + b);
                ByteVector y = load(input[c], inputAt[c] + b + LANES);
                ByteVector low = load(tables, table);
                ByteVector high = load(tables, table + STRIDE);
                x0 = add(x0, low(x), low, high(x), high);
                y0 = add(y0, low(y), low, high(y), high);
            }
            x0.intoArray(out, outAt + b);
            y0.intoArray(out, outAt + b + LANES);
        }
    }
}
