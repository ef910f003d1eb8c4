package org.globalfs.multicast.runtime;

import org.globalfs.multicast.Learner;
import org.globalfs.multicast.core.Decision;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands one ring's decided instances to its learner, in order. */
final class Delivery extends DeliveryThread {
    private static final Logger log = LoggerFactory.getLogger(Delivery.class);

    private final RingInput input;
    private final Learner learner;
    private final Listener listener;
    private long next;

    Delivery(int node, RingInput input, Learner learner, Listener listener, FatalStop stop) {
        super(node, "ring " + input.ring, stop);
        this.input = input;
        this.learner = learner;
        this.listener = listener;
        this.next = input.delivered() + 1;
        input.onNews(this::wake);
    }

    @Override
    void turn() {
        long first = input.takeBehind();
        if (first >= 0) {
            takeOverCheckpoint(first);
            return;
        }
        boolean some = false;
        for (Decision decision : input.take(next)) {
            if (closed()) {
                return;
            }
            some = true;
            learner.deliver(next, decision.batch().entries());
            input.delivered(next++);
        }
        if (!some) {
            await(() -> !input.hasNews(next), 0);
        }
    }

    private void takeOverCheckpoint(long firstAvailable) {
        if (learner.applied() < firstAvailable - 1) {
            log.info(
                    "ring {}: the state ends at {}, the log begins at {}: a checkpoint is needed",
                    input.ring,
                    input.delivered(),
                    firstAvailable);
        }
        while (learner.applied() < firstAvailable - 1 && !closed()) {
            learner.behind(firstAvailable);
        }
        if (closed()) {
            return;
        }
        long applied = learner.applied();
        input.delivered(applied);
        next = applied + 1;
        listener.checkpointInstalled(
                input.ring, applied, learner.lastTimestamp(), learner.membership());
    }
}
