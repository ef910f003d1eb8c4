package org.globalfs.replica.state.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a check of one partition found. {@link #foreign} and {@link #unexplained} are no faults by
 * themselves: over all partitions they must match, once all have executed as much.
 */
public final class CheckReport {
    private static final int KEPT_FINDINGS = 200;

    /** Inodes, names, extents and blocks that were looked at. */
    public long inodes;

    public long names;
    public long extents;
    public long blocks;

    /** Faults, one line each, the first of them. */
    public final List<String> findings = new ArrayList<>();

    /** How many faults there are. */
    public long faults;

    /** Inodes of other partitions, and how many names here point to each. */
    public final Map<Long, Integer> foreign = new TreeMap<>();

    /** Inodes here, and how many of their links no name here accounts for. */
    public final Map<Long, Integer> unexplained = new TreeMap<>();

    @SuppressWarnings("AnnotateFormatMethod") // its annotation is another library's
    void fault(String format, Object... arguments) {
        faults++;
        if (findings.size() < KEPT_FINDINGS) {
            findings.add(String.format(format, arguments));
        }
    }
}
