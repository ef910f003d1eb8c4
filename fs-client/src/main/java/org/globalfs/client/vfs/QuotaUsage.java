package org.globalfs.client.vfs;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A tree's limits (0: none) and what it uses, and its form as a line of text.
 *
 * @param ino the directory that the quota was set on
 * @param counting what was there before the quota is still being counted
 * @param path of the directory below the root, when it was asked for; else empty
 */
public record QuotaUsage(
        long ino,
        long bytes,
        long usedBytes,
        long inodes,
        long usedInodes,
        boolean counting,
        String path) {

    /** {@code ino=… bytes=… used_bytes=… inodes=… used_inodes=… counting=0 path=…}. */
    public String line() {
        String line =
                "ino="
                        + Long.toUnsignedString(ino)
                        + " bytes="
                        + bytes
                        + " used_bytes="
                        + usedBytes
                        + " inodes="
                        + inodes
                        + " used_inodes="
                        + usedInodes
                        + " counting="
                        + (counting ? 1 : 0);
        return path.isEmpty() ? line : line + " path=" + path.replace('\n', '?');
    }

    /**
     * Reads {@link #line}.
     *
     * @throws IllegalArgumentException it is none
     */
    public static QuotaUsage parse(String line) {
        int at = line.indexOf(" path=");
        String path = at < 0 ? "" : line.substring(at + " path=".length());
        Map<String, Long> numbers = new LinkedHashMap<>();
        for (String field : (at < 0 ? line : line.substring(0, at)).split(" ")) {
            int equals = field.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("not a quota: " + line);
            }
            String value = field.substring(equals + 1);
            numbers.put(field.substring(0, equals), Long.parseUnsignedLong(value));
        }
        return new QuotaUsage(
                number(numbers, "ino"),
                number(numbers, "bytes"),
                number(numbers, "used_bytes"),
                number(numbers, "inodes"),
                number(numbers, "used_inodes"),
                number(numbers, "counting") != 0,
                path);
    }

    private static long number(Map<String, Long> numbers, String key) {
        Long number = numbers.get(key);
        if (number == null) {
            throw new IllegalArgumentException("a quota without " + key);
        }
        return number;
    }
}
