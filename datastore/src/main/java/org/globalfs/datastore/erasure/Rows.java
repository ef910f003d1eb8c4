package org.globalfs.datastore.erasure;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows of factors together with the tables that the coders need. Immutable; built once per matrix
 * and shared.
 */
final class Rows {
    /** Bytes that a mask is repeated over: the widest vector. */
    static final int MASK_STRIDE = 64;

    /** Rows whose products fit into an int. */
    static final int ROWS_OF_TABLE = 4;

    private static final int TABLE_COLUMNS = 2;

    private final byte[][] factors;

    /**
     * For row r, bit b (7 first), column c, at ((r * 8 + 7 - b) * columns + c) * 64: all ones if
     * factor (r, c) has the bit.
     */
    private final byte[] bitMasks;

    /**
     * For the g-th four rows, the tables of two columns each, and of one that is left over. A table
     * has 256 ints a column: products in row 4g (bits 0-7), row 4g + 1 (bits 8-15) and so on.
     */
    private final int[][][] productTables;

    /**
     * For row r and column c, at {@link #halfTableAt}: products of 0 to 15, over and over for 64
     * bytes, then those of 0x00, 0x10 to 0xf0.
     */
    private final byte[] halfTables;

    Rows(byte[][] factors) {
        this.factors = factors;
        int rows = factors.length;
        int columns = rows == 0 ? 0 : factors[0].length;
        bitMasks = new byte[rows * 8 * columns * MASK_STRIDE];
        halfTables = new byte[rows * columns * 2 * MASK_STRIDE];
        productTables = new int[Math.ceilDiv(rows, ROWS_OF_TABLE)][][];
        for (int group = 0; group < productTables.length; group++) {
            productTables[group] = productTables(factors, group * ROWS_OF_TABLE);
        }
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                int factor = factors[r][c] & 0xff;
                for (int bit = 0; bit < 8; bit++) {
                    if ((factor >> bit & 1) == 1) {
                        int at = ((r * 8 + 7 - bit) * columns + c) * MASK_STRIDE;
                        Arrays.fill(bitMasks, at, at + MASK_STRIDE, (byte) -1);
                    }
                }
                int halfAt = halfTableAt(r, c);
                for (int i = 0; i < MASK_STRIDE; i++) {
                    halfTables[halfAt + i] = (byte) GaloisField.multiply(factor, i & 15);
                    halfTables[halfAt + MASK_STRIDE + i] =
                            (byte) GaloisField.multiply(factor, (i & 15) << 4);
                }
            }
        }
    }

    private static int[][] productTables(byte[][] factors, int firstRow) {
        int columns = factors[firstRow].length;
        int endRow = Math.min(firstRow + ROWS_OF_TABLE, factors.length);
        List<int[]> tables = new ArrayList<>();
        int width;
        for (int first = 0; first < columns; first += width) {
            width = Math.min(TABLE_COLUMNS, columns - first);
            int[] table = new int[width * 256];
            for (int r = firstRow; r < endRow; r++) {
                for (int i = 0; i < table.length; i++) {
                    int factor = factors[r][first + (i >> 8)] & 0xff;
                    table[i] |= GaloisField.multiply(factor, i & 0xff) << (r - firstRow) * 8;
                }
            }
            tables.add(table);
        }
        return tables.toArray(int[][]::new);
    }

    int count() {
        return factors.length;
    }

    int columns() {
        return factors.length == 0 ? 0 : factors[0].length;
    }

    byte[] bitMasks() {
        return bitMasks;
    }

    byte[] halfTables() {
        return halfTables;
    }

    int halfTableAt(int row, int column) {
        return (row * columns() + column) * 2 * MASK_STRIDE;
    }

    int[][][] productTables() {
        return productTables;
    }
}
