package org.globalfs.datastore.node;

import java.util.concurrent.TimeUnit;

/**
 * When {@link Repair} goes through all chunks again though nothing is known to have changed. Each
 * pass looks at all of them, and asks the other nodes for them: so what could not be done is tried
 * soon, but less and less often while a pass does nothing at all, as where a chunk's home is full.
 * For one thread; times are of {@link System#nanoTime}.
 */
final class RepairSchedule {
    /** Where nothing is left. */
    static final long PERIOD_NS = TimeUnit.HOURS.toNanos(1);

    /** Where something is left that may be possible at once. */
    static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(10);

    /** At most, where nothing could be done for long: whoever makes room tells nobody of it. */
    static final long MOST_NS = TimeUnit.MINUTES.toNanos(5);

    /** How a pass ended. */
    enum Outcome {
        /** Nothing is left that may be possible later. */
        CLEAN,
        /**
         * Something is left, and the pass was not in vain, did not get through, or met a node that
         * does not answer: which is taken for dead only if it is asked often.
         */
        GOES_ON,
        /** Something is left, and nothing of it could be done. */
        STUCK
    }

    private long waitNs = AGAIN_NS;
    private long nextNs;

    RepairSchedule(long nowNs) {
        nextNs = nowNs;
    }

    boolean isDue(long nowNs) {
        return nowNs - nextNs >= 0;
    }

    /** Other nodes are there, or somebody asked for a pass: it may do what the last could not. */
    void renew() {
        waitNs = AGAIN_NS;
    }

    void ended(Outcome outcome, long nowNs) {
        if (outcome != Outcome.STUCK) {
            renew();
        }
        nextNs = nowNs + (outcome == Outcome.CLEAN ? PERIOD_NS : waitNs);
        waitNs = outcome == Outcome.STUCK ? Math.min(MOST_NS, 2 * waitNs) : waitNs;
    }
}
