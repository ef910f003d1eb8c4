package org.globalfs.datastore.erasure;

/**
 * Multiplies rows of GF(2^8) factors with byte columns: the inner loop of encoding and decoding.
 */
interface Coder {
    String name();

    /**
     * For each row r: output[outputAt[r] + b] = sum over c of rows.factor(r, c) · input[inputAt[c]
     * + b], for b in [0, length). Inputs and outputs may be ranges of one array as long as no
     * output overlaps an input.
     */
    void multiply(
            Rows rows, byte[][] input, int[] inputAt, byte[][] output, int[] outputAt, int length);
}
