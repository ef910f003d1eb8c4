package org.globalfs.oracle.policy;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.wire.DirectoryUse;
import org.jspecify.annotations.Nullable;

/**
 * Who uses which directories, as far as it was reported: exponentially weighted, of bounded size. A
 * directory that has to make room leaves what it counted to the one above. Not thread-safe.
 */
public final class UseRates {

    /** Less than this many operations are none. */
    static final double NOTHING = 0.01;

    private final int most;
    private final long startMs;
    private final Map<Long, Directory> directories = new HashMap<>();
    private Rules rules;

    /**
     * @param most directories that are kept
     * @param nowMs of what moved before nothing is known
     */
    public UseRates(int most, Rules rules, long nowMs) {
        this.most = most;
        this.rules = rules;
        this.startMs = nowMs;
    }

    /** Rules that hold from now on. */
    public void rules(Rules newer) {
        rules = newer;
    }

    Rules rules() {
        return rules;
    }

    /** How many directories are known. */
    public int size() {
        return directories.size();
    }

    /** What users of a region, named by its partition, did. */
    public void report(int region, List<DirectoryUse> uses, long nowMs) {
        for (DirectoryUse use : uses) {
            if (use.getReads() < 0 || use.getWrites() < 0) {
                continue;
            }
            Directory directory = directories.get(use.getIno());
            if (directory == null) {
                directory = add(use, nowMs);
            } else {
                correct(directory, use, nowMs);
            }
            if (use.getReads() + use.getWrites() > 0) {
                directory.fade(nowMs);
                directory.add(region, new Use(use.getReads(), use.getWrites()));
                if (use.getAstray() > 0) {
                    directory.astray.merge(region, (double) use.getAstray(), Double::sum);
                }
            }
        }
        if (directories.size() > most) {
            makeRoom(nowMs);
        }
    }

    private Directory add(DirectoryUse use, long nowMs) {
        Directory above = directories.get(use.getParent());
        long settledMs =
                above != null && above.partition == use.getPartition() ? above.settledMs : startMs;
        Directory directory =
                new Directory(
                        use.getIno(),
                        use.getParent(),
                        use.getPartition(),
                        settledMs,
                        nowMs,
                        rules.of(use.getIno(), null, above == null ? null : above.rule));
        directories.put(use.getIno(), directory);
        return directory;
    }

    private static void correct(Directory directory, DirectoryUse use, long nowMs) {
        if (use.getParent() != 0) {
            directory.parent = use.getParent();
        }
        if (directory.partition != use.getPartition()) {
            directory.partition = use.getPartition();
            directory.settledMs = nowMs;
        }
    }

    /** What a directory says of itself; null: nothing. */
    public void states(long ino, @Nullable MoveRule rule) {
        Directory directory = directories.get(ino);
        if (directory != null) {
            directory.own = rule;
        }
    }

    /** The tree at {@code ino} has come to live elsewhere. */
    public void moved(long ino, int partition, long nowMs) {
        Directory top = directories.get(ino);
        if (top == null) {
            return;
        }
        for (Directory directory : tree(nowMs).along(top)) {
            directory.partition = partition;
            directory.settledMs = nowMs;
        }
    }

    /** One directory alone lives elsewhere than was reported; since when is not known. */
    public void livesIn(long ino, int partition, long nowMs) {
        Directory directory = directories.get(ino);
        if (directory != null && directory.partition != partition) {
            directory.partition = partition;
            directory.settledMs = nowMs;
        }
    }

    @Nullable Directory directory(long ino) {
        return directories.get(ino);
    }

    /** All that is known, as of now. */
    UseTree tree(long nowMs) {
        UseTree tree = new UseTree(directories, rules, nowMs);
        if (tree.hanging().size() < directories.size()) {
            directories.keySet().retainAll(tree.hanging());
        }
        return tree;
    }

    /** Lets the tenth that is used least go, from below. */
    private void makeRoom(long nowMs) {
        int keep = most - most / 10;
        UseTree tree = tree(nowMs);
        Map<Long, Integer> below = new HashMap<>();
        PriorityQueue<Directory> leaves =
                new PriorityQueue<>(Comparator.comparingDouble(Directory::operations));
        for (Directory directory : directories.values()) {
            int children = tree.below(directory.ino).size();
            below.put(directory.ino, children);
            if (children == 0) {
                leaves.add(directory);
            }
        }
        while (directories.size() > keep) {
            Directory leaf = Objects.requireNonNull(leaves.poll(), "a tree has leaves");
            directories.remove(leaf.ino);
            Directory above = directories.get(leaf.parent);
            if (above != null) {
                leaf.use.forEach(above::add);
                // It becomes a leaf with the last one below it, and changes no more from then on.
                if (below.merge(above.ino, -1, Integer::sum) == 0) {
                    leaves.add(above);
                }
            }
        }
    }
}
