package org.globalfs.multicast.core;

import java.util.Arrays;

/**
 * Counts the votes of the highest ballot that votes were seen in.
 *
 * <p>An instance through which a majority voted is chosen, whoever learns it: each of the majority
 * accepted it in the ballot or had been told by the ballot's coordinator that it is decided.
 */
final class VoteCount {

    private final RingConfig config;
    private final long[] through;
    private Ballot ballot = Ballot.NONE;
    private long chosen;

    VoteCount(RingConfig config) {
        this.config = config;
        this.through = new long[config.size()];
    }

    void vote(int rank, Ballot inBallot, long votedThrough) {
        if (enter(inBallot) && votedThrough > through[rank]) {
            through[rank] = votedThrough;
            chosen = Math.max(chosen, majorityOf(through, config.majority()));
        }
    }

    /** The ballot's coordinator says that everything through this instance is decided. */
    void decidedInBallot(Ballot inBallot, long instance) {
        if (enter(inBallot)) {
            chosen = Math.max(chosen, instance);
        }
    }

    private boolean enter(Ballot inBallot) {
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
