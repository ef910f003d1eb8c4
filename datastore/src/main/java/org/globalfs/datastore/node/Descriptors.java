package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.globalfs.protocol.OpenFiles;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How many files the process may have open, beside what its storage nodes and caches need: each
 * segment is one for as long as it is there. Thread-safe.
 */
public final class Descriptors {
    private static final Logger LOG = LoggerFactory.getLogger(Descriptors.class);

    /** Segments with holes take less of the disk than their size: {@link Compaction} sees to it. */
    private static final int SEGMENTS_PART = 2;

    /** Connections, the index, and whatever else the process does. */
    private static final long OTHERS = 6_000;

    /** By the disk that they are on: what the process's storage nodes and caches may use of it. */
    private static final Map<FileStore, Use> USES = new HashMap<>();

    private record Use(long capacityBytes, long totalBytes) {}

    private Descriptors() {}

    /**
     * A node's part, or a cache's, of what the process needs, until it is released.
     *
     * @param disk which several may share, and not fill twice
     * @param capacityBytes disk space that chunks may take
     */
    public record Claim(FileStore disk, long capacityBytes) {
        /** Once. */
        public void release() {
            synchronized (USES) {
                USES.computeIfPresent(
                        disk,
                        (_, use) ->
                                use.capacityBytes <= capacityBytes
                                        ? null
                                        : new Use(
                                                use.capacityBytes - capacityBytes, use.totalBytes));
            }
        }
    }

    /**
     * Counts a folder of segments.
     *
     * @param capacityBytes disk space that chunks may take
     * @throws IOException nobody can tell which disk that is, or how large
     */
    public static Claim claim(Path data, long capacityBytes) throws IOException {
        Claim claim = new Claim(Files.getFileStore(data), capacityBytes);
        Use use = new Use(capacityBytes, claim.disk.getTotalSpace());
        synchronized (USES) {
            USES.merge(
                    claim.disk,
                    use,
                    (a, b) -> new Use(a.capacityBytes + b.capacityBytes, b.totalBytes));
        }
        return claim;
    }

    /** Warns if the process may not open as many files as it needs when all of these are full. */
    static void warnOfShortage(int segmentBytes) {
        String shortage = shortage(wantedByAll(segmentBytes) + OTHERS, OpenFiles.limit());
        if (shortage != null) {
            LOG.warn("{}", shortage);
        }
    }

    static long wantedByAll(int segmentBytes) {
        synchronized (USES) {
            return USES.values().stream()
                    .mapToLong(use ->
                            wanted(Math.min(use.capacityBytes, use.totalBytes), segmentBytes))
                    .sum();
        }
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
                                + " and caches are full; writes fail then. Raise the limit (%s), or lower"
                                + " 'capacity'",
                        limit, wanted, OpenFiles.how(wanted));
    }
}
