package org.globalfs.datastore.erasure;

import java.util.Arrays;

/** Matrices over GF(2^8): the Cauchy generator matrix, and the rows that rebuild lost chunks. */
final class CodeMatrix {
    private CodeMatrix() {}

    /**
     * The generator of RS(k, m): identity on top, then row i column j holds 1 / (i xor j). ISA-L's
     * gf_gen_cauchy1_matrix gives the same bytes, so chunks are readable with it. Except for k = 1,
     * where every chunk is the block itself: a reader then takes any of them as it is.
     */
    static byte[][] cauchy(int dataChunks, int parityChunks) {
        int rows = dataChunks + parityChunks;
        byte[][] matrix = new byte[rows][dataChunks];
        for (int i = 0; i < dataChunks; i++) {
            matrix[i][i] = 1;
        }
        for (int i = dataChunks; i < rows; i++) {
            for (int j = 0; j < dataChunks; j++) {
                matrix[i][j] = dataChunks == 1 ? 1 : (byte) GaloisField.inverse(i ^ j);
            }
        }
        return matrix;
    }

    /**
     * Rows that give the wanted chunks out of the available ones: row w, column a is the factor of
     * chunk available[a] in chunk wanted[w]. Exactly k chunks must be available.
     */
    static byte[][] rebuildRows(byte[][] generator, int[] available, int[] wanted) {
        int k = available.length;
        byte[][] chosen = new byte[k][];
        for (int i = 0; i < k; i++) {
            chosen[i] = generator[available[i]];
        }
        byte[][] inverse = invert(chosen);
        byte[][] rows = new byte[wanted.length][k];
        for (int w = 0; w < wanted.length; w++) {
            byte[] row = generator[wanted[w]];
            for (int column = 0; column < k; column++) {
                int sum = 0;
                for (int j = 0; j < k; j++) {
                    sum ^= GaloisField.multiply(row[j] & 0xff, inverse[j][column] & 0xff);
                }
                rows[w][column] = (byte) sum;
            }
        }
        return rows;
    }

    static byte[][] invert(byte[][] matrix) {
        int n = matrix.length;
        int[][] left = new int[n][n];
        int[][] right = new int[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                left[i][j] = matrix[i][j] & 0xff;
            }
            right[i][i] = 1;
        }
        for (int column = 0; column < n; column++) {
            int pivot = column;
            while (pivot < n && left[pivot][column] == 0) {
                pivot++;
            }
            if (pivot == n) {
                throw new ArithmeticException("singular matrix " + Arrays.deepToString(matrix));
            }
            swap(left, pivot, column);
            swap(right, pivot, column);
            int factor = GaloisField.inverse(left[column][column]);
            scale(left[column], factor);
            scale(right[column], factor);
            for (int row = 0; row < n; row++) {
                int f = left[row][column];
                if (row != column && f != 0) {
                    addScaled(left[row], left[column], f);
                    addScaled(right[row], right[column], f);
                }
            }
        }
        byte[][] inverse = new byte[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                inverse[i][j] = (byte) right[i][j];
            }
        }
        return inverse;
    }

    private static void swap(int[][] rows, int a, int b) {
        int[] row = rows[a];
        rows[a] = rows[b];
        rows[b] = row;
    }

    private static void scale(int[] row, int factor) {
        for (int j = 0; j < row.length; j++) {
            row[j] = GaloisField.multiply(row[j], factor);
        }
    }

    private static void addScaled(int[] row, int[] other, int factor) {
        for (int j = 0; j < row.length; j++) {
            row[j] ^= GaloisField.multiply(other[j], factor);
        }
    }
}
