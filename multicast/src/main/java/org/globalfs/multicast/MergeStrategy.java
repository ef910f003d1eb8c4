package org.globalfs.multicast;

import java.time.Duration;
import org.globalfs.protocol.Invariant;

/** How learners of several rings put them into one order. */
public sealed interface MergeStrategy {

    /** Import entries in the home ring say where it executes what ring 0 decided. */
    MergeStrategy HOME_RING = new HomeRing();

    /** See {@link #HOME_RING}. */
    record HomeRing() implements MergeStrategy {}

    /**
     * Multi-Ring Paxos: the rings take turns, and skip what they lack.
     *
     * @param turn M: instances that a ring delivers before it is the next one's turn; the same
     *     wherever rings are merged
     * @param lambda instances a second that a ring counts for at least; above what any ring
     *     decides, or that one waits until the others are asked to follow. It can change at any
     *     time: the order does not depend on it
     * @param delta how often a coordinator makes up for fewer
     */
    record RoundRobin(int turn, long lambda, Duration delta) implements MergeStrategy {
        private static final long MOST_A_SECOND = 1_000_000;

        public RoundRobin {
            Invariant.check(turn > 0, "turns of %s instances", turn);
            Invariant.check(lambda > 0 && lambda <= MOST_A_SECOND, "%s instances a second", lambda);
            Invariant.check(delta.toNanos() > 0, "skips every %s", delta);
        }
    }
}
