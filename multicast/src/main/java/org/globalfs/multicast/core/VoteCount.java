package org.globalfs.multicast.core;

import java.util.Arrays;
import org.globalfs.multicast.Membership;

/**
 * Counts the votes of the highest ballot of this membership that votes were seen in.
 *
 * <p>An instance through which a majority voted is chosen, whoever learns it: each of the majority
 * accepted it in the ballot or had been told by the ballot's coordinator that it is decided.
 */
final class VoteCount {

    private final Membership members;
    private final long[] through;
    private Ballot ballot = Ballot.NONE;
    private long chosen;

    VoteCount(Membership members) {
        this.members = members;
        this.through = new long[members.size()];
    }

    void vote(int rank, Ballot inBallot, long votedThrough) {
        if (enter(inBallot) && votedThrough > through[rank]) {
            through[rank] = votedThrough;
            chosen = Math.max(chosen, majorityOf(through, members.majority()));
        }
    }

    /** The ballot's coordinator says that everything through this instance is decided. */
    void decidedInBallot(Ballot inBallot, long instance) {
        if (enter(inBallot)) {
            chosen = Math.max(chosen, instance);
        }
    }

    private boolean enter(Ballot inBallot) {
        if (inBallot.generation() != members.generation()) {
            return false;
        }
        if (inBallot.above(ballot)) {
            ballot = inBallot;
            chosen = 0;
            Arrays.fill(through, 0);
        }
        return inBallot.equals(ballot);
    }

    Ballot ballot() {
        return ballot;
    }

    /**
     * Every instance through this one is chosen, with the value that any vote in {@link #ballot} or
     * above has.
     */
    long chosen() {
        return chosen;
    }

    long through(int rank) {
        return through[rank];
    }

    /** The highest value that a majority of the members reach. */
    static long majorityOf(long[] values, int majority) {
        long[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length - majority];
    }
}
