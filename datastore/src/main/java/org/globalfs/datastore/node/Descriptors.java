package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many files the process may have open, beside what its storage nodes need: each segment is one
 * for as long as it is there.
 */
final class Descriptors {
    private static final Logger LOG = LoggerFactory.getLogger(Descriptors.class);
    private static final Path LIMITS = Path.of("/proc/self/limits");
    private static final String LIMIT = "Max open files";

    /** Segments with holes take less of the disk than their size, and so there are more. */
    private static final int SEGMENTS_PART = 2;

    /** Connections, the index, and whatever else the process does. */
    private static final long OTHERS = 6_000;

    /** Of all storage nodes of the process. */
    private static final AtomicLong WANTED = new AtomicLong();

    private Descriptors() {}

    /**
     * Warns if the process may not open as many files as it will need when the node is full.
     *
     * @return to be handed to {@link #release} once the node is closed
     */
    static long claim(String node, long capacityBytes, int segmentBytes) {
        long wanted = wanted(capacityBytes, segmentBytes);
        String shortage = shortage(WANTED.addAndGet(wanted) + OTHERS, limit());
        if (shortage != null) {
            LOG.warn("storage node {}: {}", node, shortage);
        }
        return wanted;
    }

    static void release(long claimed) {
        WANTED.addAndGet(-claimed);
    }

    static long wanted(long capacityBytes, int segmentBytes) {
        return capacityBytes / segmentBytes * SEGMENTS_PART + 1;
    }

    /** Null: there are enough. */
    static @Nullable String shortage(long wanted, long limit) {
        return wanted <= limit
                ? null
                : String.format(
                        "this process may have %d files open, and may need %d once its storage nodes"
                                + " are full; writes fail then. Raise the limit ('ulimit -n %d' before"
                                + " it is started, or LimitNOFILE=%d in its systemd unit), or lower"
                                + " 'capacity'",
                        limit, wanted, wanted, wanted);
    }

    private static long limit() {
        try {
            return limit(Files.readAllLines(LIMITS));
        } catch (IOException e) {
            LOG.debug("it is not known how many files may be open: {}", e.toString());
            return Long.MAX_VALUE;
        }
    }

    /** Of the lines that Linux has for a process; unlimited where they do not say. */
    static long limit(List<String> lines) {
        for (String line : lines) {
            if (line.startsWith(LIMIT)) {
                String soft = line.substring(LIMIT.length()).strip().split("\\s+", 2)[0];
                return soft.matches("\\d{1,18}") ? Long.parseLong(soft) : Long.MAX_VALUE;
            }
        }
        return Long.MAX_VALUE;
    }

    /** Whether something failed for lack of them, which says nothing of the disk. */
    static boolean areUsedUp(Throwable failure) {
        String message = failure.getMessage();
        return failure instanceof IOException
                && message != null
                && message.contains("Too many open files");
    }
}
