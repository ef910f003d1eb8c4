package org.globalfs.datastore.erasure;

import java.util.Arrays;

/**
 * Rows of factors together with the tables that the coders need. Immutable; built once per matrix
 * and shared.
 */
final class Rows {
    /** Bytes that a mask is repeated over: the widest vector. */
    static final int MASK_STRIDE = 64;

    private final byte[][] factors;

    /**
     * For row r, bit b (7 first), column c, at ((r * 8 + 7 - b) * columns + c) * 64: all ones if
     * factor (r, c) has the bit.
     */
    private final byte[] bitMasks;

    /**
     * For row pair p and column c, 256 ints: products in row 2p (bits 0-7) and row 2p + 1 (bits
     * 8-15).
     */
    private final int[] pairTables;

    /**
     * For row r and column c, at (r * columns + c) * 128: products of 0 to 15, over and over for 64
     * bytes, then those of 0x00, 0x10 to 0xf0.
     */
    private final byte[] halfTables;

    Rows(byte[][] factors) {
        this.factors = factors;
        int rows = factors.length;
        int columns = rows == 0 ? 0 : factors[0].length;
        bitMasks = new byte[rows * 8 * columns * MASK_STRIDE];
        halfTables = new byte[rows * columns * 2 * MASK_STRIDE];
        pairTables = new int[(rows + 1) / 2 * columns * 256];
        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < columns; c++) {
                int factor = factors[r][c] & 0xff;
                for (int bit = 0; bit < 8; bit++) {
                    if ((factor >> bit & 1) == 1) {
                        int at = ((r * 8 + 7 - bit) * columns + c) * MASK_STRIDE;
                        Arrays.fill(bitMasks, at, at + MASK_STRIDE, (byte) -1);
                    }
                }
                int halfAt = (r * columns + c) * 2 * MASK_STRIDE;
                for (int i = 0; i < MASK_STRIDE; i++) {
                    halfTables[halfAt + i] = (byte) GaloisField.multiply(factor, i & 15);
                    halfTables[halfAt + MASK_STRIDE + i] =
                            (byte) GaloisField.multiply(factor, (i & 15) << 4);
                }
                int pairAt = (r / 2 * columns + c) * 256;
                int shift = (r & 1) * 8;
                for (int value = 0; value < 256; value++) {
                    pairTables[pairAt + value] |= GaloisField.multiply(factor, value) << shift;
                }
            }
        }
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

    int[] pairTables() {
        return pairTables;
    }
}
