package org.globalfs.jepsen;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Bytes that agents make from a number too: the words of SplitMix64, least byte first. */
final class Content {
    private Content() {}

    /** The SHA-256 of so many bytes, in hexadecimal. */
    static String sum(long seed, long bytes) {
        try {
            MessageDigest sum = MessageDigest.getInstance("SHA-256");
            byte[] word = new byte[Long.BYTES];
            long state = seed;
            for (long left = bytes; left > 0; left -= word.length) {
                state += 0x9e3779b97f4a7c15L;
                long mixed = (state ^ (state >>> 30)) * 0xbf58476d1ce4e5b9L;
                mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
                mixed ^= mixed >>> 31;
                for (int i = 0; i < word.length; i++) {
                    word[i] = (byte) (mixed >>> (8 * i));
                }
                sum.update(word, 0, (int) Math.min(left, word.length));
            }
            return HexFormat.of().formatHex(sum.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
