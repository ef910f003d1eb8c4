package org.globalfs.datastore.erasure;

/**
 * Coder of plain Java: one table look-up gives the products of up to four rows, which are summed up
 * as one int per byte column.
 *
 * <p>The sums of a block of columns stay in the processor's first cache while three or four inputs
 * at a time are added. Each loop is a method of its own with few variables, tables at fixed places
 * of one array among them, so that all stay in registers, and does one thing: the JIT vectorizes
 * the loop that writes a row, but not one that writes several.
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
        int c = 0;
        for (int[] table : tables) {
            switch (table.length / 256) {
                case 4 -> four(table, input, inputAt, c, b, sums, length);
                case 3 -> three(table, input, inputAt, c, b, sums, length);
                default -> one(table, input[c], inputAt[c] + b, c > 0, sums, length);
            }
            c += table.length / 256;
        }
    }

    /** Adds the products of inputs c to c + 3; replaces the sums if c is the first. */
    private static void four(
            int[] table, byte[][] input, int[] inputAt, int c, int b, int[] sums, int length) {
        byte[] in0 = input[c];
        byte[] in1 = input[c + 1];
        byte[] in2 = input[c + 2];
        byte[] in3 = input[c + 3];
        int at0 = inputAt[c] + b;
        int at1 = inputAt[c + 1] + b;
        int at2 = inputAt[c + 2] + b;
        int at3 = inputAt[c + 3] + b;
        if (c == 0) {
            for (int i = 0; i < length; i++) {
                sums[i] =
                        table[in0[at0 + i] & 0xff]
                                ^ table[256 + (in1[at1 + i] & 0xff)]
                                ^ table[512 + (in2[at2 + i] & 0xff)]
                                ^ table[768 + (in3[at3 + i] & 0xff)];
            }
        } else {
            for (int i = 0; i < length; i++) {
                sums[i] ^=
                        table[in0[at0 + i] & 0xff]
                                ^ table[256 + (in1[at1 + i] & 0xff)]
                                ^ table[512 + (in2[at2 + i] & 0xff)]
                                ^ table[768 + (in3[at3 + i] & 0xff)];
            }
        }
    }

    private static void three(
            int[] table, byte[][] input, int[] inputAt, int c, int b, int[] sums, int length) {
        byte[] in0 = input[c];
        byte[] in1 = input[c + 1];
        byte[] in2 = input[c + 2];
        int at0 = inputAt[c] + b;
        int at1 = inputAt[c + 1] + b;
        int at2 = inputAt[c + 2] + b;
        if (c == 0) {
            for (int i = 0; i < length; i++) {
                sums[i] =
                        table[in0[at0 + i] & 0xff]
                                ^ table[256 + (in1[at1 + i] & 0xff)]
                                ^ table[512 + (in2[at2 + i] & 0xff)];
            }
        } else {
            for (int i = 0; i < length; i++) {
                sums[i] ^=
                        table[in0[at0 + i] & 0xff]
                                ^ table[256 + (in1[at1 + i] & 0xff)]
                                ^ table[512 + (in2[at2 + i] & 0xff)];
            }
        }
    }

    private static void one(
            int[] table, byte[] input, int at, boolean add, int[] sums, int length) {
        for (int i = 0; i < length; i++) {
            int product = table[input[at + i] & 0xff];
            sums[i] = add ? sums[i] ^ product : product;
        }
    }

    /** Writes a row: the byte of each sum that begins at the bit. */
    private static void write(int[] sums, int bit, byte[] output, int at, int length) {
        for (int i = 0; i < length; i++) {
            output[at + i] = (byte) (sums[i] >> bit);
        }
    }
}
