package org.globalfs.protocol.placement;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Which trees may move to where their users are: rules of directories, each for all below it but
 * what another rule is about.
 *
 * @param rules one of the root always, others after it by path
 */
public record MovePolicy(List<MoveRule> rules) {

    /** Nothing moves by itself. */
    public static final MovePolicy OFF = new MovePolicy(List.of());

    public MovePolicy {
        List<MoveRule> sorted =
                new ArrayList<>(
                        rules.stream().sorted(Comparator.comparing(MoveRule::path)).toList());
        if (sorted.isEmpty() || !sorted.getFirst().isRoot()) {
            sorted.addFirst(MoveRule.off("/"));
        }
        rules = List.copyOf(sorted);
    }

    /** What holds where no rule of a directory does. */
    public MoveRule root() {
        return rules.getFirst();
    }

    /** Nothing can ever move. */
    public boolean isOff() {
        return rules.stream()
                .allMatch(rule -> rule.move() == MoveRule.Kind.OFF && rule.region().isEmpty());
    }
}
