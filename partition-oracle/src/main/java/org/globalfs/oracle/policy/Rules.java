package org.globalfs.oracle.policy;

import java.util.Map;
import java.util.Set;
import org.globalfs.protocol.placement.MoveRule;
import org.jspecify.annotations.Nullable;

/**
 * The policy's rules where their directories were found.
 *
 * @param byDirectory by inode; rules of directories that do not exist are left out
 * @param above the directories on the way to those, which do not move together with all below them
 * @param root holds where no other does
 */
public record Rules(Map<Long, MoveRule> byDirectory, Set<Long> above, MoveRule root) {

    public Rules {
        byDirectory = Map.copyOf(byDirectory);
        above = Set.copyOf(above);
    }

    /** A policy of one rule. */
    public static Rules of(MoveRule root) {
        return new Rules(Map.of(), Set.of(), root);
    }

    private @Nullable MoveRule stated(long ino, @Nullable MoveRule own) {
        return byDirectory.getOrDefault(ino, own);
    }

    /** Whether the directory's rule is its own, whatever holds for the one that it is in. */
    boolean isStated(long ino, @Nullable MoveRule own) {
        return stated(ino, own) != null;
    }

    /**
     * The rule of a directory in one with the rule {@code above}; null: in none that is known.
     *
     * @param own what the directory itself says, which yields to the policy's file
     */
    MoveRule of(long ino, @Nullable MoveRule own, @Nullable MoveRule above) {
        MoveRule stated = stated(ino, own);
        return stated != null ? stated : above != null ? above : root;
    }
}
