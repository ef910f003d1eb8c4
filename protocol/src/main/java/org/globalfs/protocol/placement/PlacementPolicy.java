package org.globalfs.protocol.placement;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The cluster's placement rules. The same on every process: state machines and routing decide by
 * it.
 *
 * @param directories rules of single directories, by absolute path; all others inherit
 */
public record PlacementPolicy(Map<String, Placement> directories) {

    private static final String ROOT = "/";

    public PlacementPolicy {
        directories = Map.copyOf(directories);
    }

    /** Directories made in the root belong to the region of who makes them. */
    public static PlacementPolicy standard() {
        return new PlacementPolicy(Map.of(ROOT, Placement.CREATOR));
    }

    /**
     * Reads rules as written: path to word.
     *
     * @throws IllegalArgumentException names the rule that is wrong, and what is possible
     */
    public static PlacementPolicy parse(Map<String, String> rules) {
        Map<String, Placement> directories = new TreeMap<>();
        rules.forEach((path, word) -> {
            if (!path.equals(ROOT)) {
                throw new IllegalArgumentException(
                        "placement of '" + path + "': only the root directory '/' can have a rule");
            }
            directories.put(path, placement(path, word));
        });
        if (!directories.containsKey(ROOT)) {
            throw new IllegalArgumentException(
                    "placement: the root directory '/' has no rule; write '/: creator'");
        }
        return new PlacementPolicy(directories);
    }

    private static Placement placement(String path, String word) {
        List<String> known = new ArrayList<>();
        for (Placement placement : Placement.values()) {
            if (placement.word().equals(word)) {
                return placement;
            }
            known.add(placement.word());
        }
        throw new IllegalArgumentException(
                "placement of '"
                        + path
                        + "' is '"
                        + word
                        + "': it must be one of "
                        + String.join(", ", known));
    }

    public Placement of(String path) {
        return directories.getOrDefault(path, Placement.INHERIT);
    }

    /**
     * The partition of a directory that a client of region {@code origin} makes in a directory of
     * the global partition.
     */
    public int partitionOfNewDirectory(String parentPath, int parentPartition, int origin) {
        boolean creators =
                parentPartition == 0 && origin != 0 && of(parentPath) == Placement.CREATOR;
        return creators ? origin : parentPartition;
    }
}
