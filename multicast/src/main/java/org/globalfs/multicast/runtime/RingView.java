package org.globalfs.multicast.runtime;

import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MergedLearner;
import org.globalfs.multicast.RingPosition;
import org.globalfs.multicast.RingState;
import org.jspecify.annotations.Nullable;

/** What a merged learner has of one ring. */
record RingView(int ring, MergedLearner merged) implements RingState {

    @Override
    public long applied() {
        RingPosition position = merged.position().in(ring);
        return position == null ? 0 : position.instance();
    }

    @Override
    public long lastTimestamp() {
        return merged.lastTimestamp(ring);
    }

    @Override
    public @Nullable Membership membership() {
        return merged.membership(ring);
    }
}
