package org.globalfs.oracle.policy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongPredicate;
import org.globalfs.protocol.placement.MoveRule;
import org.jspecify.annotations.Nullable;

/**
 * Chooses trees that should come to one region: the highest ones that it uses so much more than all
 * others together as their rule demands. Since that is more than half of all use, regions with the
 * same rules and reports never pull at the same tree; hysteresis and residence see to it that one
 * that two of them use alike stays where it is.
 */
public final class Chooser {

    /** Partition 0's directories are every region's. */
    private static final int GLOBAL = 0;

    private final String name;
    private final int region;

    /**
     * @param region the partition of the region that is chosen for
     */
    public Chooser(String name, int region) {
        this.name = name;
        this.region = region;
    }

    /**
     * @param resting directories that are not chosen for now; those below them may be
     * @return from the one that is used most on
     */
    public List<Choice> choose(UseRates rates, LongPredicate resting, long nowMs) {
        UseTree tree = rates.tree(nowMs);
        List<Choice> choices = new ArrayList<>();
        Deque<Directory> left = new ArrayDeque<>(tree.tops());
        while (!left.isEmpty()) {
            Directory next = left.pop();
            boolean rests = resting.test(next.ino);
            boolean taken = !rests && refusal(tree, next, nowMs) == null;
            if (taken || !rests && hasAstray(tree, next)) {
                double own = own(tree, next).operations();
                double others = all(tree, next) - own;
                choices.add(new Choice(next.ino, !taken, next.rule, own, others));
            }
            for (Directory child : tree.below(next.ino)) {
                if (!taken || !UseTree.goesAlong(next, child)) {
                    left.push(child);
                }
            }
        }
        choices.sort((a, b) -> Double.compare(b.own(), a.own()));
        return choices;
    }

    private Use own(UseTree tree, Directory directory) {
        return uses(tree, directory).getOrDefault(region, Use.NONE);
    }

    /**
     * Whether files of a directory that lives here should come after it: a move was cut short, or
     * they had to stay.
     */
    private boolean hasAstray(UseTree tree, Directory directory) {
        if (directory.partition != region) {
            return false;
        }
        return isPinnedHere(directory.rule)
                ? !directory.astray.isEmpty()
                : directory.astray.containsKey(region) && tooLittle(tree, directory) == null;
    }

    private boolean isPinnedHere(MoveRule rule) {
        return rule.region().isPresent() && rule.region().get().equals(name);
    }

    private static double all(UseTree tree, Directory directory) {
        double sum = 0;
        for (Use use : uses(tree, directory).values()) {
            sum += use.operations();
        }
        return sum;
    }

    private static Map<Integer, Use> uses(UseTree tree, Directory directory) {
        Map<Integer, Use> uses = tree.sum(directory.ino);
        return uses == null ? Map.of() : uses;
    }

    /** Why the tree is not to come here, for people; null: it is. */
    private @Nullable String refusal(UseTree tree, Directory directory, long nowMs) {
        MoveRule rule = directory.rule;
        if (directory.partition == region) {
            return "it lives in " + name;
        }
        if (directory.partition == GLOBAL) {
            return "it is every region's";
        }
        if (rule.region().isPresent()) {
            return isPinnedHere(rule) ? null : "it is to live in " + rule.region().get();
        }
        String tooLittle = tooLittle(tree, directory);
        if (tooLittle != null) {
            return tooLittle;
        }
        long leftMs = rule.residenceMs() - (nowMs - directory.settledMs);
        return leftMs <= 0
                ? null
                : String.format(
                        Locale.ROOT,
                        "it has not been where it is, or known here, for long: %,d s to go",
                        (leftMs + 999) / 1000);
    }

    /** Why this region's use of the tree is no reason for it to be here; null: it is. */
    private @Nullable String tooLittle(UseTree tree, Directory directory) {
        MoveRule rule = directory.rule;
        if (rule.move() == MoveRule.Kind.OFF) {
            return "its rule lets nothing move";
        }
        Use own = own(tree, directory);
        if (own.reads() < rule.reads() && own.writes() < rule.writes()) {
            return name + " uses it too little";
        }
        double others = all(tree, directory) - own.operations();
        if (own.operations() <= rule.hysteresis() * others) {
            return String.format(
                    Locale.ROOT,
                    "%s uses it %.1f times as much as all others; more than %s times would move it",
                    name,
                    own.operations() / others,
                    rule.hysteresis());
        }
        return null;
    }

    /**
     * What {@link #explain} says.
     *
     * @param uses of the directory and what moves with it
     * @param moves whether it is to come
     * @param verdict the same for people, and why
     */
    public record Explanation(
            MoveRule rule, Map<Integer, Use> uses, boolean moves, String verdict) {
        public Explanation {
            uses = Map.copyOf(uses);
        }

        /** That of a region, named by its partition. */
        public Optional<Use> use(int partition) {
            return Optional.ofNullable(uses.get(partition));
        }
    }

    /** Why a directory is, or is not, to come to this region; null: nothing is known of it. */
    public @Nullable Explanation explain(UseRates rates, long ino, long nowMs) {
        UseTree tree = rates.tree(nowMs);
        Directory directory = rates.directory(ino);
        if (directory == null) {
            return null;
        }
        Directory chosen = refusal(tree, directory, nowMs) == null ? directory : null;
        Set<Long> seen = new HashSet<>(Set.of(ino));
        Directory above = rates.directory(directory.parent);
        for (Directory at = directory;
                above != null && UseTree.goesAlong(above, at) && seen.add(above.ino); ) {
            chosen = refusal(tree, above, nowMs) == null ? above : chosen;
            at = above;
            above = rates.directory(at.parent);
        }
        String verdict =
                chosen == null
                        ? String.valueOf(refusal(tree, directory, nowMs))
                        : "it is to move to "
                                + name
                                + (chosen == directory ? "" : ", with a directory above it");
        return new Explanation(directory.rule, uses(tree, directory), chosen != null, verdict);
    }
}
