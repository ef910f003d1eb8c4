package org.globalfs.multicast.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.Decision;
import org.globalfs.multicast.core.RingConfig;
import org.jspecify.annotations.Nullable;

/**
 * One partition in one process: the member of its ring, the state that executes what the ring
 * delivers, and the clients that wait for it. The state is lost in a crash down to its last flush,
 * and replayed from the log.
 */
final class SimReplica {

    private record WaitingRead(long instance, SimClient client, long operation) {}

    private record WaitingWrite(SimClient client, long operation, int sequence) {}

    private static final int MOST_KEPT_BELOW_CHECKPOINT = 30;

    private final SimCluster cluster;
    private final SimProcess process;
    private final SimMember member;
    private ModelState state;
    private ModelState flushed;
    private final ArrayDeque<Decision> waiting = new ArrayDeque<>();
    private final List<WaitingRead> reads = new ArrayList<>();
    private final Map<Integer, WaitingWrite> writes = new HashMap<>();
    private boolean fetching;
    private boolean executionPending;

    SimReplica(SimCluster cluster, SimProcess process, RingConfig config) {
        this.cluster = cluster;
        this.process = process;
        this.member = new SimMember(cluster, process, config);
        this.state = new ModelState(config.ring(), cluster.checker());
        this.flushed = state.copy();
    }

    SimMember member() {
        return member;
    }

    ModelState state() {
        return state;
    }

    ModelState flushed() {
        return flushed;
    }

    long applied() {
        return state.applied();
    }

    long lastTimestamp() {
        return state.lastTimestamp();
    }

    void crash() {
        member.crash();
        waiting.clear();
        reads.clear();
        writes.clear();
        state = flushed.copy();
        fetching = false;
        executionPending = false;
    }

    // ---- clients

    /** A client's request, as the metadata service treats it. */
    void request(SimClient client, long operation, @Nullable Value write) {
        boolean anyone = member.ring() == 0 && write != null;
        if (!anyone && !member.leading()) {
            client.redirected(operation, member.core().coordinator());
        } else if (write == null) {
            read(client, operation);
        } else {
            writes.put(write.session(), new WaitingWrite(client, operation, write.sequence()));
            process.after(
                    cluster.simulation().around(Simulation.MS / 10),
                    () -> {
                        if (!member.propose(write.bytes(), client.destinations(write))) {
                            client.redirected(operation, -1);
                        }
                    });
        }
    }

    private void read(SimClient client, long operation) {
        long instance = member.leaseInstance();
        if (instance < 0 || cluster.simulation().chance(0.5)) {
            member.readIndex(index -> read(client, operation, index));
        } else {
            read(client, operation, instance);
        }
    }

    private void read(SimClient client, long operation, long instance) {
        if (instance < 0) {
            client.redirected(operation, -1);
        } else {
            reads.add(new WaitingRead(instance, client, operation));
            answerReads();
        }
    }

    private void answerReads() {
        if (!reads.isEmpty()) {
            reads.removeIf(read -> {
                boolean due = read.instance <= state.applied();
                if (due) {
                    read.client.answered(read.operation, state.version());
                }
                return due;
            });
        }
    }

    private void executed(int session, ModelState.Reply reply) {
        WaitingWrite write = writes.get(session);
        if (write == null || write.sequence != reply.sequence()) {
            return;
        }
        writes.remove(session);
        if (cluster.plan().acknowledges().test(member)) {
            cluster.checker()
                    .acknowledged(
                            member.ring(), state.applied(), new Value(session, write.sequence));
            write.client.answered(write.operation, reply.version());
        } else {
            write.client.redirected(write.operation, member.core().coordinator());
        }
    }

    // ---- execution

    void decided(long instance, Batch batch) {
        cluster.checker().decided(member.ring(), process.id(), instance, batch);
        process.merge().heard(member.ring(), batch);
        process.merge().readable(member.ring(), instance);
        long last = waiting.isEmpty() ? state.applied() : waiting.getLast().instance();
        if (instance > last) {
            waiting.add(new Decision(instance, batch));
        }
        if (executionPending) {
            return;
        }
        if (cluster.simulation().chance(0.1)) {
            executionPending = true;
            process.after(
                    cluster.simulation().between(0, 3 * Simulation.MS),
                    () -> {
                        executionPending = false;
                        execute();
                    });
        } else {
            execute();
        }
    }

    void execute() {
        boolean moved = false;
        while (executeNext()) {
            moved = true;
        }
        if (moved) {
            answerReads();
            if (member.ring() == 0) {
                process.globalExecuted();
            }
        }
    }

    private boolean executeNext() {
        Decision next = waiting.peek();
        ModelState global = process.global();
        if (next == null
                || next.instance() != state.applied() + 1
                || ModelState.needs(next.batch()) > global.applied()) {
            return false;
        }
        waiting.remove();
        state.execute(next.instance(), next.batch(), global, this::executed);
        return true;
    }

    // ---- checkpoints

    /** Makes the state durable; what the log then no longer needs may go. */
    void flush() {
        flushed = state.copy();
        if (cluster.simulation().chance(0.6)) {
            int kept =
                    cluster.simulation().chance(0.3)
                            ? 0
                            : cluster.simulation().below(MOST_KEPT_BELOW_CHECKPOINT);
            long done = Math.min(flushed.applied(), cluster.mergedEverywhere(member.ring()));
            member.trim(state.applied(), done, kept);
        }
    }

    /** Fetches the flushed state of the peer that is furthest, as a replica its checkpoint. */
    void behind(long firstAvailable) {
        if (!fetching) {
            fetching = true;
            process.after(
                    cluster.simulation().between(10, 300) * Simulation.MS,
                    () -> fetched(firstAvailable));
        }
    }

    private void fetched(long firstAvailable) {
        fetching = false;
        ModelState best = cluster.furthest(member.ring(), process.id());
        if (state.applied() < firstAvailable - 1) {
            if (best == null || best.applied() <= state.applied()) {
                return;
            }
            install(best);
        }
        if (!process.merge().fetch(member.ring(), firstAvailable - 1)) {
            return;
        }
        long through = Math.min(state.applied(), process.merge().keeps(member.ring()));
        member.checkpointInstalled(through, state.lastTimestamp(), state.membershipAt(through));
        execute();
        answerReads();
    }

    private void install(ModelState checkpoint) {
        state = checkpoint.copy();
        flushed = checkpoint.copy();
        while (!waiting.isEmpty() && waiting.getFirst().instance() <= state.applied()) {
            waiting.removeFirst();
        }
        cluster.simulation().note(3, member.ring(), state.applied());
        cluster.coverage().count(Coverage.Kind.CHECKPOINTS_FETCHED);
        if (member.ring() == 0) {
            process.globalExecuted();
        }
    }
}
