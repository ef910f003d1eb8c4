package org.globalfs.protocol.placement;

import java.util.Optional;
import org.globalfs.protocol.Invariant;

/**
 * When a tree may come to live in another region: what {@code policy.yaml} says of a directory, for
 * all below it that no rule further down is about.
 *
 * @param path absolute, without a slash at its end; "/" is the root
 * @param region where the tree is to live, whoever uses it, or "global"; with {@code move: off}
 *     only
 * @param global whether a tree that several regions read much more than anybody changes becomes
 *     every region's, and one region's again when that one changes it; not with {@code move: off}
 * @param reads operations a window without a change, from which on a region may have the tree
 * @param writes the same of changes; one of both suffices
 * @param windowMs how fast use is forgotten: after so long what was counted weighs 1/e
 * @param hysteresis how many times as much as all other regions together the region has to use it
 * @param residenceMs how long what has moved stays at least
 * @param inodesAnHour the most that move to a region in an hour by this rule
 * @param bytesAnHour the same of the content that follows
 */
public record MoveRule(
        String path,
        Optional<String> region,
        Kind move,
        boolean global,
        long reads,
        long writes,
        long windowMs,
        double hysteresis,
        long residenceMs,
        long inodesAnHour,
        long bytesAnHour) {

    /** What makes a tree move. */
    public enum Kind {
        /** Nothing does. */
        OFF,
        /** That one region uses it more than all others, at present. */
        EAGER,
        /** That one region has used it clearly more than all others, for a while. */
        THRESHOLD
    }

    /** Says a directory's rule on the directory itself, as {@code policy.yaml} does. */
    public static final String ATTRIBUTE = "user.globalfs.policy";

    private static final String ROOT = "/";
    private static final long SECOND_MS = 1_000;
    private static final long HOUR_MS = 3_600_000;

    public MoveRule {
        Invariant.check(windowMs > 0, "a rule's window is empty");
        Invariant.check(hysteresis >= 1, "a rule's hysteresis is below 1");
    }

    /** Everything stays where it is. */
    public static MoveRule off(String path) {
        return new MoveRule(
                path, Optional.empty(), Kind.OFF, false, 0, 0, 60 * SECOND_MS, 1, 0, 0, 0);
    }

    /** The tree is to live in that region, or to be every region's. */
    public static MoveRule pinned(String path, String region) {
        return new MoveRule(
                path,
                Optional.of(region),
                Kind.OFF,
                false,
                0,
                0,
                60 * SECOND_MS,
                1,
                0,
                Long.MAX_VALUE,
                Long.MAX_VALUE);
    }

    /** Whoever uses it most now has it at once. */
    public static MoveRule eager(String path) {
        return new MoveRule(
                path,
                Optional.empty(),
                Kind.EAGER,
                false,
                1,
                1,
                5 * SECOND_MS,
                1,
                10 * SECOND_MS,
                Long.MAX_VALUE,
                Long.MAX_VALUE);
    }

    /** What a rule with nothing but {@code move: threshold} means. */
    public static MoveRule threshold(String path) {
        return new MoveRule(
                path,
                Optional.empty(),
                Kind.THRESHOLD,
                false,
                1_000,
                100,
                600 * SECOND_MS,
                2,
                HOUR_MS,
                1_000_000,
                100L << 30);
    }

    private String orGlobal() {
        return global ? " or global" : "";
    }

    public boolean isRoot() {
        return path.equals(ROOT);
    }

    /** As an operator would write it, in one line. */
    public String text() {
        if (region.isPresent()) {
            return path + ": region " + region.get();
        }
        return switch (move) {
            case OFF -> path + ": off";
            case EAGER -> path + ": eager" + orGlobal();
            case THRESHOLD ->
                    String.format(
                            java.util.Locale.ROOT,
                            "%s: threshold%s (%,d reads or %,d writes in %,d s, %s times the"
                                    + " others' use, after %,d s)",
                            path,
                            orGlobal(),
                            reads,
                            writes,
                            windowMs / SECOND_MS,
                            hysteresis == Math.rint(hysteresis)
                                    ? Long.toString((long) hysteresis)
                                    : Double.toString(hysteresis),
                            residenceMs / SECOND_MS);
        };
    }
}
