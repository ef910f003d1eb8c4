package org.globalfs.multicast;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The consumer of the merged order of several rings. Called on one delivery thread only; an
 * exception stops the process.
 *
 * <p>All learners of a group are told the same, in the same order; two learners of any groups are
 * told what concerns both in the same order.
 */
public interface MergedLearner {

    /** Number of the group whose subscriptions this learner follows. */
    int group();

    /**
     * Delivery resumes behind this: what the state has executed. At the very start {@link
     * MergePosition#start}, the same in all learners of the group.
     */
    MergePosition position();

    /** Timestamp of the newest command of the ring in what {@link #position} covers, 0 if none. */
    long lastTimestamp(int ring);

    /** The newest membership of the ring in what {@link #position} covers, null if none. */
    @Nullable Membership membership(int ring);

    /**
     * Executes one instance of a ring: skips, subscriptions and nothing at all are delivered like
     * commands, so that the position moves. An implementation that waits for something in here must
     * stop waiting when its owner closes.
     *
     * @param after the position once this is executed
     */
    void deliver(int ring, long instance, List<Entry> entries, MergePosition after);

    /**
     * The ring's log is trimmed everywhere reachable beyond this learner. It must take over a
     * checkpoint from a learner of its group that raises {@link #position} of the ring to at least
     * {@code firstAvailable - 1} before it returns; it is called again otherwise.
     */
    void behind(int ring, long firstAvailable);
}
