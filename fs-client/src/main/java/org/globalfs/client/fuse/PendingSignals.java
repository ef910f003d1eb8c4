package org.globalfs.client.fuse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether a thread has received a signal that ends it, as {@code /proc/PID/status} tells. */
final class PendingSignals {
    private static final int SIGKILL = 9;

    /**
     * Signals that by default do not end a process: CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG, WINCH.
     */
    private static final long HARMLESS =
            bit(17) | bit(18) | bit(19) | bit(20) | bit(21) | bit(22) | bit(23) | bit(28);

    private PendingSignals() {}

    /** {@code tid} 0 stands for a process that is not visible from here: nothing is known of it. */
    static boolean fatal(int tid) {
        if (tid == 0) {
            return false;
        }
        String status;
        try {
            status =
                    new String(
                            Files.readAllBytes(Path.of("/proc/" + tid + "/status")),
                            StandardCharsets.ISO_8859_1);
        } catch (IOException gone) {
            return false;
        }
        return fatal(status);
    }

    static boolean fatal(String status) {
        long pending = mask(status, "SigPnd") | mask(status, "ShdPnd");
        long survived =
                mask(status, "SigBlk") | mask(status, "SigIgn") | mask(status, "SigCgt") | HARMLESS;
        return (pending & bit(SIGKILL)) != 0 || (pending & ~survived) != 0;
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
