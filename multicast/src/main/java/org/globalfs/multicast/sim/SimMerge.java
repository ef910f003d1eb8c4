package org.globalfs.multicast.sim;

import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.RingPosition;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.merge.RoundRobin;
import org.jspecify.annotations.Nullable;

/**
 * A process's round-robin learner of ring global and its home ring, beside the replicas and over
 * the same logs: the production merge, and a state that is no more than a place in its order. The
 * learners of a region are a group, which leaves ring global now and then and comes back.
 */
final class SimMerge {

    private static final long PLENTY_BYTES = 1 << 30;

    /**
     * What a checkpoint of the learner carries.
     *
     * @param delivered how many instances are in it
     * @param left ring global where the group first left it
     */
    private record State(MergePosition position, int delivered, @Nullable RingPosition left) {}

    private final SimCluster cluster;
    private final SimProcess process;
    private final int group;
    private final long[] readable = new long[2];
    private State state;
    private State flushed;
    private RoundRobin machine;
    private boolean pumpPending;
    private boolean askPending;

    SimMerge(SimCluster cluster, SimProcess process) {
        this.cluster = cluster;
        this.process = process;
        this.group = process.homeRing();
        MergePosition start =
                MergePosition.start(cluster.merging().turn(), List.of(0, process.homeRing()));
        this.state = new State(start, 0, null);
        this.flushed = state;
        this.machine = machine();
    }

    private RoundRobin machine() {
        return new RoundRobin(
                group,
                cluster.plan().resume().apply(state.position),
                cluster.merging().room(),
                PLENTY_BYTES);
    }

    private boolean off() {
        return !cluster.merging().on();
    }

    /** Starts from the last checkpoint, its own or that of a learner of the group. */
    void start() {
        if (off()) {
            return;
        }
        state = flushed;
        if (cluster.simulation().chance(0.3)) {
            takeOver();
        }
        readable[0] = 0;
        readable[1] = 0;
        pumpPending = false;
        askPending = false;
        machine = machine();
    }

    /** Takes the furthest checkpoint of the group. */
    private void takeOver() {
        for (int id : cluster.replicas(group)) {
            State other = cluster.process(id).merge().flushed;
            state = other.delivered > state.delivered ? other : state;
        }
        if (state.delivered > flushed.delivered) {
            cluster.coverage().count(Coverage.Kind.MERGES_TAKEN_OVER);
        }
        flushed = state;
        machine = machine();
    }

    void flush() {
        flushed = state;
    }

    /**
     * Gets the learner at least this far, if need be by another's checkpoint. False: not now; then
     * somebody who is down has the log, for it is not trimmed before all learners are further.
     */
    boolean fetch(int ring, long instance) {
        if (!off()) {
            flush();
            if (keeps(ring) < instance) {
                takeOver();
            }
        }
        return keeps(ring) >= instance;
    }

    /** The last instance of the ring that a restart would not read from the log. */
    long keeps(int ring) {
        RingPosition in = flushed.position.in(ring);
        long left = ring == 0 && flushed.left != null ? flushed.left.instance() : Long.MAX_VALUE;
        return off() ? Long.MAX_VALUE : Math.min(in == null ? Long.MAX_VALUE : in.instance(), left);
    }

    /** Whether all of the ring through this instance is delivered or passed over, if followed. */
    boolean reached(int ring, long instance) {
        RingPosition in = machine.position().in(ring);
        return off() || in == null || in.instance() >= instance;
    }

    /** The ring decided this: there may be a skip in it. */
    void heard(int ring, Batch batch) {
        for (Entry entry : batch.entries()) {
            if (entry instanceof Entry.Skip skip) {
                machine.heard(ring, skip.position());
            }
        }
    }

    /** Everything through this instance is decided, and in the log. */
    void readable(int ring, long instance) {
        int index = ring == 0 ? 0 : 1;
        if (off() || instance <= readable[index]) {
            return;
        }
        readable[index] = instance;
        if (pumpPending) {
            return;
        }
        if (cluster.simulation().chance(0.1)) {
            pumpPending = true;
            process.after(
                    cluster.simulation().between(0, 5 * Simulation.MS),
                    () -> {
                        pumpPending = false;
                        pump();
                    });
        } else {
            pump();
        }
    }

    private void pump() {
        boolean some = true;
        while (some) {
            some = read(0);
            some |= read(group);
            for (RoundRobin.Delivered next = machine.next(); next != null; next = machine.next()) {
                deliver(next);
                some = true;
            }
        }
        if (!askPending && machine.wanted() > 0) {
            askPending = true;
            process.after(cluster.merging().deltaNs(), this::ask);
        }
    }

    private boolean read(int ring) {
        boolean some = false;
        while (machine.follows(ring)
                && machine.hasRoom(ring)
                && machine.next(ring) <= readable[ring == 0 ? 0 : 1]) {
            long next = machine.next(ring);
            List<Batch> found = process.replica(ring).member().disk().read(next, next);
            if (found.isEmpty()) {
                throw new Checker.Violation(
                        "the merge of "
                                + process
                                + " needs instance "
                                + next
                                + " of ring "
                                + ring
                                + ", which its log has no more");
            }
            machine.offer(ring, next, found.getFirst().entries(), found.getFirst().sizeBytes());
            some = true;
        }
        return some;
    }

    private void deliver(RoundRobin.Delivered next) {
        RingPosition before = state.position.in(0);
        MergePosition after = machine.position();
        RingPosition left = state.left;
        if (before != null && after.in(0) == null) {
            cluster.coverage().count(Coverage.Kind.RINGS_LEFT);
            left = left == null ? before : left;
        }
        cluster.simulation().note(7, next.ring() * 100L + process.id(), next.instance());
        cluster.checker().merged(group, process.id(), state.delivered, next);
        cluster.coverage().count(Coverage.Kind.MERGED);
        state = new State(after, state.delivered + 1, left);
    }

    private void ask() {
        askPending = false;
        long wanted = machine.wanted();
        if (wanted > 0) {
            process.replica(machine.waitingFor()).member().propose(new Entry.Skip(wanted));
        }
        pump();
    }

    /** Asks that the group leave ring global, or follow it again from where it left. */
    void changeSubscription() {
        RingPosition left = state.left;
        RingPosition now = state.position.in(0);
        if (now != null) {
            int through = cluster.simulation().chance(0.5) ? 0 : group;
            process.replica(through)
                    .member()
                    .propose(new Entry.Subscription(group, 0, false, 0, 0));
        } else if (left != null) {
            process.replica(group)
                    .member()
                    .propose(
                            new Entry.Subscription(
                                    group, 0, true, left.instance(), left.position()));
        }
    }

    @Override
    public String toString() {
        return off()
                ? ""
                : ", merged " + state.position + " waits for ring " + machine.waitingFor();
    }
}
