package org.globalfs.multicast.runtime;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.MergeStrategy;
import org.globalfs.multicast.MergedLearner;
import org.globalfs.multicast.RingPosition;
import org.globalfs.multicast.core.Decision;
import org.globalfs.multicast.merge.RoundRobin;
import org.globalfs.protocol.Invariant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands the merged order of several rings to one learner. A ring that is not followed is read no
 * more, and its log may go.
 */
final class MergedDelivery extends DeliveryThread {
    private static final Logger log = LoggerFactory.getLogger(MergedDelivery.class);
    private static final int BUFFERED_INSTANCES = 1024;
    private static final long BUFFERED_BYTES = 32 << 20;

    /** What the merge asks for, from its thread. */
    interface Lag {
        /** The merge waits until the ring's logical position is there. */
        void wanted(int ring, long position);
    }

    private final MergedLearner learner;
    private final MergeStrategy.RoundRobin strategy;
    private final Listener listener;
    private final Lag lag;
    private final Map<Integer, RingInput> inputs;
    private RoundRobin merge;
    private List<Integer> followed = List.of();
    private long askedNs;

    MergedDelivery(
            int node,
            MergedLearner learner,
            MergeStrategy.RoundRobin strategy,
            Map<Integer, RingInput> inputs,
            Listener listener,
            Lag lag,
            FatalStop stop) {
        super(node, "merged rings", stop);
        this.learner = learner;
        this.strategy = strategy;
        this.inputs = new TreeMap<>(inputs);
        this.listener = listener;
        this.lag = lag;
        this.merge = resume();
        this.askedNs = System.nanoTime();
        inputs.values().forEach(input -> input.onNews(this::wake));
    }

    private RoundRobin resume() {
        MergePosition start = learner.position();
        Invariant.check(
                start.turn() == strategy.turn(),
                "the state was merged in turns of %s, the configuration says %s",
                start.turn(),
                strategy.turn());
        RoundRobin machine =
                new RoundRobin(learner.group(), start, BUFFERED_INSTANCES, BUFFERED_BYTES);
        for (RingPosition ring : start.rings()) {
            input(ring.ring()).delivered(ring.instance());
        }
        followed = machine.rings();
        return machine;
    }

    private RingInput input(int ring) {
        RingInput input = inputs.get(ring);
        Invariant.check(
                input != null,
                "group %s follows ring %s, of which this process is no member",
                learner.group(),
                ring);
        return input;
    }

    @Override
    void turn() {
        if (checkpointNeeded()) {
            return;
        }
        boolean some = fill();
        for (RoundRobin.Delivered next = merge.next();
                next != null && !closed();
                next = merge.next()) {
            some = true;
            learner.deliver(next.ring(), next.instance(), next.entries(), merge.position());
            input(next.ring()).delivered(next.instance());
            if (!merge.rings().equals(followed)) {
                followed = merge.rings();
                followed.forEach(this::input);
                log.info("group {} now follows rings {}", learner.group(), followed);
                return;
            }
        }
        if (!some) {
            askAndWait();
        }
    }

    /** Takes what has room; a ring that runs ahead stays in its queue and its log. */
    private boolean fill() {
        boolean some = false;
        for (RingInput input : inputs.values()) {
            if (!merge.follows(input.ring)) {
                input.discard();
                continue;
            }
            merge.heard(input.ring, input.newestSkip());
            while (merge.hasRoom(input.ring)) {
                List<Decision> decisions = input.take(merge.next(input.ring));
                if (decisions.isEmpty()) {
                    break;
                }
                some = true;
                offer(input.ring, decisions);
            }
        }
        return some;
    }

    private void offer(int ring, List<Decision> decisions) {
        for (Decision decision : decisions) {
            if (!merge.hasRoom(ring)) {
                return; // of what was read from the log, which has the rest later too
            }
            merge.offer(
                    ring,
                    decision.instance(),
                    decision.batch().entries(),
                    decision.batch().sizeBytes());
        }
    }

    private boolean idle() {
        for (RingInput input : inputs.values()) {
            boolean wanted = merge.follows(input.ring) && merge.hasRoom(input.ring);
            if (input.isBehind() || wanted && input.hasNews(merge.next(input.ring))) {
                return false;
            }
        }
        return true;
    }

    /** Whoever is waited for is told so once a delta, as long as something waits. */
    private void askAndWait() {
        long wanted = merge.wanted();
        if (wanted == 0) {
            await(this::idle, 0);
            return;
        }
        long deltaNs = strategy.delta().toNanos();
        long leftNs = askedNs + deltaNs - System.nanoTime();
        if (leftNs <= 0) {
            askedNs += deltaNs - leftNs;
            lag.wanted(merge.waitingFor(), wanted);
            leftNs = deltaNs;
        }
        await(this::idle, leftNs);
    }

    private boolean checkpointNeeded() {
        for (RingInput input : inputs.values()) {
            long first = input.takeBehind();
            if (first >= 0) {
                takeOverCheckpoint(input, first);
                return true;
            }
        }
        return false;
    }

    private void takeOverCheckpoint(RingInput input, long firstAvailable) {
        int ring = input.ring;
        if (instance(ring) < firstAvailable - 1) {
            log.info(
                    "ring {}: the state ends at {}, the log begins at {}: a checkpoint is needed",
                    ring,
                    instance(ring),
                    firstAvailable);
        }
        while (instance(ring) < firstAvailable - 1 && !closed()) {
            learner.behind(ring, firstAvailable);
        }
        if (closed()) {
            return;
        }
        merge = resume();
        for (RingInput each : inputs.values()) {
            long at = instance(each.ring);
            if (at != Long.MAX_VALUE) {
                listener.checkpointInstalled(
                        each.ring,
                        at,
                        learner.lastTimestamp(each.ring),
                        learner.membership(each.ring));
            } else if (each == input) {
                listener.checkpointInstalled(ring, firstAvailable - 1, 0, learner.membership(ring));
            }
        }
    }

    /** Where the state is in the ring; beyond everything in one that it does not follow. */
    private long instance(int ring) {
        RingPosition position = learner.position().in(ring);
        return position == null ? Long.MAX_VALUE : position.instance();
    }
}
