package org.globalfs.datastore.erasure;

/** Arithmetic of GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11d). */
final class GaloisField {
    static final int POLYNOMIAL = 0x11d;

    private static final byte[] EXP = new byte[512];
    private static final int[] LOG = new int[256];

    static {
        int x = 1;
        for (int i = 0; i < 255; i++) {
            EXP[i] = (byte) x;
            EXP[i + 255] = (byte) x;
            LOG[x] = i;
            x <<= 1;
            if (x >= 256) {
                x ^= POLYNOMIAL;
            }
        }
    }

    private GaloisField() {}

    static int multiply(int a, int b) {
        if (a == 0 || b == 0) {
            return 0;
        }
        return EXP[LOG[a] + LOG[b]] & 0xff;
    }

    static int inverse(int a) {
        if (a == 0) {
            throw new ArithmeticException("0 has no inverse in GF(2^8)");
        }
        return EXP[255 - LOG[a]] & 0xff;
    }
}
