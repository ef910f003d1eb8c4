package org.globalfs.multicast.sim;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.Decision;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.core.RingConfig;
import org.jspecify.annotations.Nullable;

/**
 * A replica: a member of ring global and one of its home ring, which crash together, and the two
 * states that execute what the rings deliver. A state that is not flushed is lost in a crash and
 * replayed from the log.
 */
final class SimProcess implements ImportSource {

    /** A state as of an instance; all that matters here is how far it is and what it imported. */
    record State(long applied, long importedThrough) {
        static final State EMPTY = new State(0, 0);
    }

    /** One ring's state in this process: in memory, on disk, and what waits to be executed. */
    private static final class Partition {
        private final SimMember member;
        private State state = State.EMPTY;
        private State flushed = State.EMPTY;
        private final ArrayDeque<Decision> waiting = new ArrayDeque<>();
        private boolean fetching;

        Partition(SimMember member) {
            this.member = member;
        }
    }

    private final SimCluster cluster;
    private final int id;
    private final double clockRate;
    private final long clockSkewMs;
    private final Partition global;
    private final Partition home;
    private final List<Runnable> held = new ArrayList<>();
    private int incarnation;
    private boolean up;
    private boolean paused;

    SimProcess(SimCluster cluster, int id, RingConfig globalConfig, RingConfig homeConfig) {
        this.cluster = cluster;
        this.id = id;
        this.clockRate = 1 + cluster.simulation().between(-800, 800) / 100_000.0;
        this.clockSkewMs = cluster.simulation().between(0, 2000);
        this.global = new Partition(new SimMember(cluster, this, globalConfig));
        this.home = new Partition(new SimMember(cluster, this, homeConfig));
    }

    static byte[] value(long id) {
        return ByteBuffer.allocate(8).putLong(id).array();
    }

    static long id(byte[] value) {
        return ByteBuffer.wrap(value).getLong();
    }

    int id() {
        return id;
    }

    int incarnation() {
        return incarnation;
    }

    boolean up() {
        return up;
    }

    long localNs() {
        return (long) (cluster.simulation().nowNs() * clockRate);
    }

    long realNs(long localDurationNs) {
        return (long) (localDurationNs / clockRate);
    }

    long wallMs() {
        return 1_000_000 + clockSkewMs + localNs() / Simulation.MS;
    }

    /**
     * Runs the action then, unless this incarnation has ended; a paused process runs it once it
     * goes on.
     */
    void at(long timeNs, Runnable action) {
        int scheduledIn = incarnation;
        cluster.simulation().at(timeNs, () -> run(scheduledIn, action));
    }

    void after(long delayNs, Runnable action) {
        at(cluster.simulation().nowNs() + delayNs, action);
    }

    private void run(int scheduledIn, Runnable action) {
        if (!up || scheduledIn != incarnation) {
            return;
        }
        if (paused) {
            held.add(action);
        } else {
            action.run();
        }
    }

    void receive(int ring, int from, Message message) {
        run(incarnation, () -> partition(ring).member.receive(from, message));
    }

    void pause(long durationNs) {
        if (up && !paused) {
            paused = true;
            int pausedIn = incarnation;
            cluster.simulation().after(durationNs, () -> goOn(pausedIn));
        }
    }

    private void goOn(int pausedIn) {
        if (pausedIn == incarnation && paused) {
            paused = false;
            List<Runnable> actions = new ArrayList<>(held);
            held.clear();
            actions.forEach(action -> run(incarnation, action));
        }
    }

    void crash() {
        up = false;
        paused = false;
        held.clear();
        incarnation++;
        for (Partition partition : List.of(global, home)) {
            partition.member.crash();
            partition.waiting.clear();
            partition.state = partition.flushed;
            partition.fetching = false;
        }
    }

    void start() {
        up = true;
        incarnation++;
        global.member.restart(null, global.state.applied);
        home.member.restart(this, home.state.applied);
        scheduleFlush();
    }

    boolean propose(int ring, long value, int[] destinations) {
        return up && !paused && partition(ring).member.propose(value(value), destinations);
    }

    private Partition partition(int ring) {
        return ring == 0 ? global : home;
    }

    SimMember member(int ring) {
        return partition(ring).member;
    }

    int homeRing() {
        return home.member.ring();
    }

    // ---- execution

    void decided(SimMember member, long instance, Batch batch) {
        cluster.checker().decided(member.ring(), id, instance, batch, member.core().leading());
        Partition partition = partition(member.ring());
        long last =
                partition.waiting.isEmpty()
                        ? partition.state.applied
                        : partition.waiting.getLast().instance();
        if (instance > last) {
            Checker.check(
                    instance == last + 1 || partition.fetching,
                    "gap before " + instance + " at " + member);
            partition.waiting.add(new Decision(instance, batch));
        }
        execute();
    }

    private void execute() {
        boolean moved = false;
        while (executeNext(global)) {
            moved = true;
        }
        while (executeNext(home)) {}
        if (moved) {
            after(1000, home.member::globalExecuted);
        }
    }

    private boolean executeNext(Partition partition) {
        Decision next = partition.waiting.peek();
        if (next == null || next.instance() != partition.state.applied + 1) {
            return false;
        }
        long importedThrough = partition.state.importedThrough;
        for (Entry entry : next.batch().entries()) {
            if (entry instanceof Entry.Import imported) {
                if (imported.instance() > global.state.applied) {
                    return false;
                }
                long expected =
                        cluster.checker()
                                .nextConcerning(homeRing(), importedThrough, global.state.applied);
                if (imported.instance() == expected) {
                    importedThrough = expected;
                }
            }
        }
        partition.waiting.remove();
        partition.state = new State(next.instance(), importedThrough);
        if (partition == home) {
            cluster.checker().imported(homeRing(), next.instance(), importedThrough);
        }
        return true;
    }

    @Override
    public long nextConcerning(int partition, long after) {
        return cluster.checker().nextConcerning(partition, after, global.state.applied);
    }

    @Override
    public long importedThrough(int partition) {
        return home.state.importedThrough;
    }

    long applied(int ring) {
        return partition(ring).state.applied;
    }

    // ---- checkpoints

    private void scheduleFlush() {
        after(
                cluster.simulation().around(600 * Simulation.MS),
                () -> {
                    Partition partition = cluster.simulation().chance(0.5) ? global : home;
                    partition.flushed = partition.state;
                    if (cluster.simulation().chance(0.6)) {
                        partition
                                .member
                                .disk()
                                .trim(partition.flushed.applied - cluster.simulation().below(30));
                    }
                    scheduleFlush();
                });
    }

    /**
     * Fetches the flushed state of the peer that is furthest, as a replica would its checkpoint.
     */
    void behind(SimMember member, long firstAvailable) {
        Partition partition = partition(member.ring());
        if (partition.fetching) {
            return;
        }
        partition.fetching = true;
        after(
                cluster.simulation().between(10, 300) * Simulation.MS,
                () -> {
                    partition.fetching = false;
                    State best = cluster.furthest(member.ring(), id);
                    if (partition.state.applied >= firstAvailable - 1) {
                        member.checkpointInstalled(partition.state.applied);
                    } else if (best(best, partition.state)) {
                        partition.state = best;
                        partition.flushed = best;
                        while (!partition.waiting.isEmpty()
                                && partition.waiting.getFirst().instance() <= best.applied) {
                            partition.waiting.removeFirst();
                        }
                        cluster.simulation().note(3, member.ring(), best.applied);
                        cluster.checkpointInstalled();
                        member.checkpointInstalled(best.applied);
                        execute();
                    }
                });
    }

    private static boolean best(@Nullable State found, State mine) {
        return found != null && found.applied > mine.applied;
    }

    @Nullable State checkpoint(int ring) {
        return up ? partition(ring).flushed : null;
    }

    static @Nullable State further(@Nullable State a, @Nullable State b) {
        if (a == null || b == null) {
            return a == null ? b : a;
        }
        return a.applied >= b.applied ? a : b;
    }

    @Override
    public String toString() {
        return "process " + id;
    }
}
