package org.globalfs.oracle.policy;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * All directories that are known, each with its rule, faded to now, and what is used below each.
 */
final class UseTree {

    private static final long ROOT = 1;

    private final Map<Long, List<Directory>> below = new HashMap<>();
    private final List<Directory> tops = new ArrayList<>();

    /** Each after the one that it is in. */
    private final List<Directory> order = new ArrayList<>();

    /** Those of which it is not known which rule holds, as it is not what they are in. */
    private final Set<Long> unplaced = new HashSet<>();

    private final Map<Long, Map<Integer, Use>> sums = new HashMap<>();

    UseTree(Map<Long, Directory> all, Rules rules, long nowMs) {
        for (Directory directory : all.values()) {
            if (directory.parent == directory.ino || !all.containsKey(directory.parent)) {
                tops.add(directory);
            } else {
                below.computeIfAbsent(directory.parent, _ -> new ArrayList<>()).add(directory);
            }
        }
        for (Directory top : tops) {
            top.rule = rules.of(top.ino, top.own, null);
            boolean inRoot = top.ino == ROOT || top.parent == ROOT;
            if (!inRoot && !rules.isStated(top.ino, top.own)) {
                unplaced.add(top.ino);
            }
            order.add(top);
        }
        for (int i = 0; i < order.size(); i++) {
            Directory next = order.get(i);
            next.fade(nowMs);
            for (Directory child : below(next.ino)) {
                child.rule = rules.of(child.ino, child.own, next.rule);
                if (!isPlaced(next.ino) && !rules.isStated(child.ino, child.own)) {
                    unplaced.add(child.ino);
                }
                order.add(child);
            }
        }
        for (int i = order.size() - 1; i >= 0; i--) {
            sum(order.get(i));
        }
    }

    private void sum(Directory directory) {
        Map<Integer, Use> sum = new TreeMap<>(directory.use);
        for (Directory child : below(directory.ino)) {
            if (goesAlong(directory, child)) {
                Objects.requireNonNull(sums.get(child.ino), "children are summed up first")
                        .forEach((region, use) -> sum.merge(region, use, Use::plus));
            }
        }
        sums.put(directory.ino, sum);
    }

    /** Whether a directory moves when the one that it is in does: it has the same rule and home. */
    static boolean goesAlong(Directory directory, Directory child) {
        return child.partition == directory.partition && child.rule.equals(directory.rule);
    }

    /** Whether it is known which rule holds for the directory. */
    boolean isPlaced(long ino) {
        return !unplaced.contains(ino);
    }

    Collection<Directory> tops() {
        return tops;
    }

    Collection<Directory> below(long ino) {
        return below.getOrDefault(ino, List.of());
    }

    /**
     * The use of a directory and of what goes along with it, by the users' partition; null: nothing
     * is known of it.
     */
    @Nullable Map<Integer, Use> sum(long ino) {
        return sums.get(ino);
    }

    /** The directory and all that goes along with it. */
    List<Directory> along(Directory top) {
        List<Directory> result = new ArrayList<>(List.of(top));
        for (int i = 0; i < result.size(); i++) {
            for (Directory child : below(result.get(i).ino)) {
                if (goesAlong(result.get(i), child)) {
                    result.add(child);
                }
            }
        }
        return result;
    }

    /**
     * Those that hang below a top; reports of different times can make a circle, which does not.
     */
    Set<Long> hanging() {
        Set<Long> result = new HashSet<>();
        for (Directory directory : order) {
            result.add(directory.ino);
        }
        return result;
    }
}
