package org.globalfs.multicast.runtime;

import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MergedLearner;
import org.globalfs.multicast.RingPosition;
import org.jspecify.annotations.Nullable;

/** What a merged learner has of one ring. */
record RingView(int ring, MergedLearner merged) implements Learner {

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

    @Override
    public void deliver(long instance, List<Entry> entries) {
        throw new UnsupportedOperationException("delivered merged only");
    }

    @Override
    public void behind(long firstAvailable) {
        throw new UnsupportedOperationException("delivered merged only");
    }
}
