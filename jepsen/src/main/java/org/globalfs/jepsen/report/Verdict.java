package org.globalfs.jepsen.report;

import java.nio.file.Path;

/**
 * A history and what the checker said of it.
 *
 * @param name the workload
 * @param exitCode the checker's: 0 valid, 1 invalid, 2 malformed, 3 unknown
 */
public record Verdict(String name, Path history, int exitCode, String text) {
    public boolean valid() {
        return exitCode == 0;
    }

    /** In one word. */
    public String word() {
        return switch (exitCode) {
            case 0 -> "valid";
            case 1 -> "invalid";
            case 3 -> "unknown";
            default -> "malformed";
        };
    }
}
