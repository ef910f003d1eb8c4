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
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.placement.MoveRule;
import org.jspecify.annotations.Nullable;

/**
 * Chooses trees that should come to one region: the highest ones that it uses so much more than all
 * others together as their rule demands. Since that is more than half of all use, regions with the
 * same rules and reports never pull at the same tree; hysteresis and residence see to it that one
 * that two of them use alike stays where it is.
 *
 * <p>By a rule with {@code global}, a tree that several regions read much more than anybody changes
 * it becomes every region's: then nobody pulls at it, and the region where it lives gives it away.
 * It stays so until a region changes it enough to have it.
 */
public final class Chooser {

    private static final int GLOBAL = Topology.GLOBAL;
    private static final long ROOT = 1;

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
            if (taken) {
                int to = next.partition == region ? GLOBAL : region;
                choices.add(choice(tree, next, to, false));
            } else if (!rests && hasAstray(tree, next)) {
                choices.add(choice(tree, next, next.partition, true));
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

    private Choice choice(UseTree tree, Directory directory, int to, boolean files) {
        double own = own(tree, directory).operations();
        double others = all(tree, directory) - own;
        return new Choice(
                directory.ino, directory.partition, to, files, directory.rule, own, others);
    }

    private Use own(UseTree tree, Directory directory) {
        return uses(tree, directory).getOrDefault(region, Use.NONE);
    }

    /**
     * Whether files of a directory that lives here should come after it: a move was cut short, or
     * they had to stay. Those of one that is every region's by its rule are up to the region that
     * misses them most.
     */
    private boolean hasAstray(UseTree tree, Directory directory) {
        if (!tree.isPlaced(directory.ino)) {
            return false;
        }
        if (directory.partition == GLOBAL) {
            boolean meant =
                    isPinned(directory.rule, Topology.GLOBAL_NAME) || directory.rule.global();
            return meant && directory.ino != ROOT && region == missesMost(directory);
        }
        if (directory.partition != region) {
            return false;
        }
        return isPinnedHere(directory.rule)
                ? !directory.astray.isEmpty()
                : directory.astray.containsKey(region) && tooLittle(tree, directory) == null;
    }

    private static int missesMost(Directory directory) {
        return directory.astray.entrySet().stream()
                .max(Map.Entry.comparingByValue())
                .map(Map.Entry::getKey)
                .orElse(GLOBAL);
    }

    private static boolean isPinned(MoveRule rule, String where) {
        return rule.region().isPresent() && rule.region().get().equals(where);
    }

    private boolean isPinnedHere(MoveRule rule) {
        return isPinned(rule, name);
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

    /**
     * Why the tree is not to come here or, if it lives here, to become every region's, for people;
     * null: it is.
     */
    private @Nullable String refusal(UseTree tree, Directory directory, long nowMs) {
        MoveRule rule = directory.rule;
        boolean free = directory.partition == GLOBAL && rule.region().isEmpty() && !rule.global();
        if (directory.ino == ROOT || free) {
            return "it is every region's";
        }
        if (!tree.isPlaced(directory.ino)) {
            return "nobody has said where it is, nor which rule holds there";
        }
        if (directory.partition == region) {
            return notGlobal(tree, directory, nowMs);
        }
        if (rule.region().isPresent()) {
            return isPinnedHere(rule) ? null : "it is to live in " + rule.region().get();
        }
        if (rule.global() && isEverybodys(tree, directory)) {
            return directory.partition == GLOBAL
                    ? "it is every region's, and hardly changed"
                    : "several regions read it: it is to become every region's";
        }
        String tooLittle = tooLittle(tree, directory);
        if (tooLittle == null && directory.partition == GLOBAL) {
            tooLittle = tooFewWrites(tree, directory);
        }
        return tooLittle != null ? tooLittle : tooEarly(directory, nowMs);
    }

    private @Nullable String notGlobal(UseTree tree, Directory directory, long nowMs) {
        MoveRule rule = directory.rule;
        if (isPinned(rule, Topology.GLOBAL_NAME)) {
            return null;
        }
        String here = "it lives in " + name;
        if (!rule.global()) {
            return here;
        }
        if (!isEverybodys(tree, directory)) {
            return here + ": not enough regions read it enough more than it is changed";
        }
        return tooEarly(directory, nowMs);
    }

    /**
     * Whether several regions read the tree much more than anybody changes it. What the region that
     * uses it most reads does not count: that one alone could have it. A tree that is every
     * region's already stays so until it is clearly otherwise.
     */
    private static boolean isEverybodys(UseTree tree, Directory directory) {
        double writes = 0;
        double reads = 0;
        Use most = Use.NONE;
        for (Use use : uses(tree, directory).values()) {
            writes += use.writes();
            reads += use.reads();
            most = use.operations() > most.operations() ? use : most;
        }
        MoveRule rule = directory.rule;
        double others = reads - most.reads();
        return directory.partition == GLOBAL
                ? others * rule.hysteresis() > writes
                : others >= rule.reads() && others > rule.hysteresis() * writes;
    }

    /** Everybody reads it here already, so that only changes are a reason to have it. */
    private @Nullable String tooFewWrites(UseTree tree, Directory directory) {
        return own(tree, directory).writes() < directory.rule.writes()
                ? "it is every region's, and " + name + " changes it too little"
                : null;
    }

    private static @Nullable String tooEarly(Directory directory, long nowMs) {
        MoveRule rule = directory.rule;
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
     * @param moves whether it is to come or, if it lives here, to become every region's
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

    /** Why a directory is, or is not, to move, as this region sees it; null: it is not known. */
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
                        : "it is to "
                                + (chosen.partition == region
                                        ? "become every region's"
                                        : "move to " + name)
                                + (chosen == directory ? "" : ", with a directory above it");
        return new Explanation(directory.rule, uses(tree, directory), chosen != null, verdict);
    }
}
