package org.globalfs.protocol;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the system lets this process have, as Linux tells it. */
public final class ProcessLimits {
    private static final Logger LOG = LoggerFactory.getLogger(ProcessLimits.class);
    private static final Path LIMITS = Path.of("/proc/self/limits");

    private ProcessLimits() {}

    /** {@link Long#MAX_VALUE}: unlimited, or not known. */
    static long limit(String name) {
        try {
            return limit(Files.readAllLines(LIMITS), name);
        } catch (IOException e) {
            LOG.debug("the limit '{}' is not known: {}", name, e.toString());
            return Long.MAX_VALUE;
        }
    }

    /** Of the lines that Linux has for a process; unlimited where they do not say. */
    static long limit(List<String> lines, String name) {
        for (String line : lines) {
            if (line.startsWith(name)) {
                String soft = line.substring(name.length()).strip().split("\\s+", 2)[0];
                return soft.matches("\\d{1,18}") ? Long.parseLong(soft) : Long.MAX_VALUE;
            }
        }
        return Long.MAX_VALUE;
    }

    /** Bytes that a file may have; {@link Long#MAX_VALUE}: unlimited, or not known. */
    public static long fileBytes() {
        return limit("Max file size");
    }

    /**
     * Processes, with all their threads, that this user may have; {@link Long#MAX_VALUE}:
     * unlimited, or not known.
     */
    public static long threads() {
        // Linux does not hold root to it.
        return System.getProperty("user.name", "").equals("root")
                ? Long.MAX_VALUE
                : limit("Max processes");
    }
}
