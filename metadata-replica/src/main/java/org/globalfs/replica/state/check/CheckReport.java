package org.globalfs.replica.state.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a check of one partition found. {@link #foreign} and {@link #unexplained}, {@link #hanging}
 * and {@link #held} are no faults by themselves: over all partitions they must match, once all have
 * executed as much, and {@link #globalBelow} must be the same in all that directories were made in.
 * {@link Crossings} compares, and {@link Digests} what is known of inodes that were moved.
 */
public final class CheckReport {
    private static final int KEPT_FINDINGS = 200;

    /** Inodes, names, extents and blocks that were looked at. */
    public long inodes;

    public long names;
    public long extents;
    public long blocks;

    /** Directories that do not live here, and have entries here for a while. */
    public long staged;

    /** Faults, one line each, the first of them. */
    public final List<String> findings = new ArrayList<>();

    /** How many faults there are. */
    public long faults;

    /** Inodes of other partitions, and how many names here point to each. */
    public final Map<Long, Integer> foreign = new TreeMap<>();

    /**
     * A directory whose parent is in another partition.
     *
     * @param top of the parent's partition: the uppermost directory on the way from the parent
     *     towards the root that is still there; 0 when this is the directory's own partition
     */
    public record Crossing(long ino, long parent, long top) {}

    /** Directories here whose parents are elsewhere, as their own records say. */
    public final List<Crossing> hanging = new ArrayList<>();

    /** Directories of other partitions that have names here, one for each name. */
    public final List<Crossing> held = new ArrayList<>();

    /** Directories of partition 0 that lie in regional ones, as this partition knows. */
    public long globalBelow;

    /** What is known of moved inodes and lent blocks. */
    public final Digests digests = new Digests();

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
