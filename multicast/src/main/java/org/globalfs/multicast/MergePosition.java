package org.globalfs.multicast;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * A place in the merged order of several rings: all that a checkpoint must carry for a learner to
 * go on from exactly there. Whose turn it is, and how much of it is left, follows from the logical
 * positions; see {@link org.globalfs.multicast.merge.RoundRobin}.
 *
 * @param turn M: logical instances that a ring delivers before it is the next one's turn; all
 *     learners must have the same
 * @param rings those followed, ascending
 */
public record MergePosition(int turn, List<RingPosition> rings) {

    public MergePosition {
        List<RingPosition> sorted = new ArrayList<>(rings);
        sorted.sort(Comparator.comparingInt(RingPosition::ring));
        rings = List.copyOf(sorted);
        Invariant.check(turn > 0 && !rings.isEmpty(), "turns of %s in %s", turn, rings);
        for (int i = 1; i < rings.size(); i++) {
            Invariant.check(
                    rings.get(i - 1).ring() < rings.get(i).ring(), "a ring twice in %s", rings);
        }
    }

    /** Before everything in these rings. */
    public static MergePosition start(int turn, List<Integer> rings) {
        return new MergePosition(turn, rings.stream().map(RingPosition::start).toList());
    }

    /** Where in the ring; null when it is not followed. */
    public @Nullable RingPosition in(int ring) {
        for (RingPosition position : rings) {
            if (position.ring() == ring) {
                return position;
            }
        }
        return null;
    }
}
