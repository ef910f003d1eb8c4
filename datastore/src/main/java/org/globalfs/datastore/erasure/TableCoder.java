package org.globalfs.datastore.erasure;

/** Coder of plain Java: one table look-up gives the products of two rows. */
final class TableCoder implements Coder {
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
        for (int r = 0; r < rows.count(); r += 2) {
            boolean pair = r + 1 < rows.count();
            byte[] second = pair ? output[r + 1] : output[r];
            int secondAt = pair ? outputAt[r + 1] : outputAt[r];
            if (rows.columns() == 4) {
                fourColumns(
                        rows,
                        r,
                        input,
                        inputAt,
                        output[r],
                        outputAt[r],
                        second,
                        secondAt,
                        pair,
                        from,
                        to);
            } else {
                anyColumns(
                        rows,
                        r,
                        input,
                        inputAt,
                        output[r],
                        outputAt[r],
                        second,
                        secondAt,
                        pair,
                        from,
                        to);
            }
        }
    }

    private static void fourColumns(
            Rows rows,
            int row,
            byte[][] input,
            int[] inputAt,
            byte[] first,
            int firstAt,
            byte[] second,
            int secondAt,
            boolean pair,
            int from,
            int to) {
        int[] tables = rows.pairTables();
        int base = row / 2 * 4 * 256;
        byte[] in0 = input[0];
        byte[] in1 = input[1];
        byte[] in2 = input[2];
        byte[] in3 = input[3];
        int at0 = inputAt[0];
        int at1 = inputAt[1];
        int at2 = inputAt[2];
        int at3 = inputAt[3];
        for (int b = from; b < to; b++) {
            int products =
                    tables[base + (in0[at0 + b] & 0xff)]
                            ^ tables[base + 256 + (in1[at1 + b] & 0xff)]
                            ^ tables[base + 512 + (in2[at2 + b] & 0xff)]
                            ^ tables[base + 768 + (in3[at3 + b] & 0xff)];
            first[firstAt + b] = (byte) products;
            if (pair) {
                second[secondAt + b] = (byte) (products >> 8);
            }
        }
    }

    private static void anyColumns(
            Rows rows,
            int row,
            byte[][] input,
            int[] inputAt,
            byte[] first,
            int firstAt,
            byte[] second,
            int secondAt,
            boolean pair,
            int from,
            int to) {
        int[] tables = rows.pairTables();
        int columns = rows.columns();
        int base = row / 2 * columns * 256;
        for (int b = from; b < to; b++) {
            int products = 0;
            for (int c = 0; c < columns; c++) {
                products ^= tables[base + c * 256 + (input[c][inputAt[c] + b] & 0xff)];
            }
            first[firstAt + b] = (byte) products;
            if (pair) {
                second[secondAt + b] = (byte) (products >> 8);
            }
        }
    }
}
