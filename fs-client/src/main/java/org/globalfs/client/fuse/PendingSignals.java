package org.globalfs.client.fuse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether a thread has received a signal, as {@code /proc/PID/status} tells. A thread that is not
 * visible from here, and every thread where there is no such file, counts as one without.
 */
public final class PendingSignals {
    private static final int SIGKILL = 9;

    /**
     * Signals that by default do not end a process: CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH.
     */
    private static final long HARMLESS =
            bit(17) | bit(18) | bit(19) | bit(20) | bit(21) | bit(22) | bit(23) | bit(28);

    private PendingSignals() {}

    /** One that ends its process. */
    public static boolean fatal(int tid) {
        return fatal(status(tid));
    }

    /** One that the process notices: that ends it or that it has a handler for. */
    public static boolean noticed(int tid) {
        return noticed(status(tid));
    }

    private static String status(int tid) {
        if (tid == 0) {
            return "";
        }
        try {
            return new String(
                    Files.readAllBytes(Path.of("/proc/" + tid + "/status")),
                    StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return "";
        }
    }

    static boolean fatal(String status) {
        long survived =
                mask(status, "SigBlk") | mask(status, "SigIgn") | mask(status, "SigCgt") | HARMLESS;
        return (pending(status) & bit(SIGKILL)) != 0 || (pending(status) & ~survived) != 0;
    }

    static boolean noticed(String status) {
        long passed =
                mask(status, "SigBlk")
                        | mask(status, "SigIgn")
                        | (HARMLESS & ~mask(status, "SigCgt"));
        return (pending(status) & ~passed) != 0;
    }

    private static long pending(String status) {
        return mask(status, "SigPnd") | mask(status, "ShdPnd");
    }

    private static long mask(String status, String field) {
        int start = status.indexOf("\n" + field + ":");
        if (start < 0) {
            return 0;
        }
        int from = start + field.length() + 2;
        int end = status.indexOf('\n', from);
        return Long.parseUnsignedLong(
                status.substring(from, end < 0 ? status.length() : end).trim(), 16);
    }

    private static long bit(int signal) {
        return 1L << (signal - 1);
    }
}
