package org.globalfs.datastore.erasure;

import java.util.Arrays;

/**
 * Coder of plain Java: one table look-up gives the products of up to four rows, which are summed up
 * as one int per byte column.
 *
 * <p>The sums of a block of columns stay in the processor's first cache while two inputs at a time
 * are added. Each loop is a method of its own with few variables, tables at fixed places of one
 * array among them, so that all stay in registers, and does one thing: three or four inputs at a
 * time are slower; the JIT vectorizes the loop that writes a row, but not one that writes several.
 */
final class TableCoder implements Coder {
    private static final int BLOCK = 1024;

    @Override
    public String name() {
        return "table";
    }

    @Override
    public void multiply(
            Rows rows, byte[][] input, int[] inputAt, byte[][] output, int[] outputAt, int length) {
        multiply(rows, input, inputAt, output, outputAt, 0, length);
    }

    /** As multiply, for the columns [from, to) of the range only. */
    static void multiply(
            Rows rows,
            byte[][] input,
            int[] inputAt,
            byte[][] output,
            int[] outputAt,
            int from,
            int to) {
        int[] sums = new int[Math.min(BLOCK, to - from)];
        int[][][] tables = rows.productTables();
        for (int b = from; b < to; b += BLOCK) {
            int length = Math.min(BLOCK, to - b);
            for (int group = 0; group < tables.length; group++) {
                sum(tables[group], input, inputAt, b, sums, length);
                int first = group * Rows.ROWS_OF_TABLE;
                int end = Math.min(first + Rows.ROWS_OF_TABLE, rows.count());
                for (int r = first; r < end; r++) {
                    write(sums, (r - first) * 8, output[r], outputAt[r] + b, length);
                }
            }
        }
    }

    /** Sums up the products of all inputs, for the columns from b on. */
    private static void sum(
            int[][] tables, byte[][] input, int[] inputAt, int b, int[] sums, int length) {
        Arrays.fill(sums, 0, length, 0);
        int c = 0;
        for (int[] table : tables) {
            if (table.length == 512) {
                two(
                        table,
                        input[c],
                        inputAt[c] + b,
                        input[c + 1],
                        inputAt[c + 1] + b,
                        sums,
                        length);
            } else {
                one(table, input[c], inputAt[c] + b, sums, length);
            }
            c += table.length / 256;
        }
    }

    /** Adds the products of two inputs. */
    private static void two(
            int[] table, byte[] x, int xAt, byte[] y, int yAt, int[] sums, int length) {
        for (int i = 0; i < length; i++) {
            sums[i] ^= table[x[xAt + i] & 0xff] ^ table[256 + (y[yAt + i] & 0xff)];
        }
    }

    private static void one(int[] table, byte[] x, int xAt, int[] sums, int length) {
        for (int i = 0; i < length; i++) {
            sums[i] ^= table[x[xAt + i] & 0xff];
        }
    }

    /** Writes a row: the byte of each sum that begins at the bit. */
    private static void write(int[] sums, int bit, byte[] output, int at, int length) {
        for (int i = 0; i < length; i++) {
            output[at + i] = (byte) (sums[i] >> bit);
        }
    }
}
