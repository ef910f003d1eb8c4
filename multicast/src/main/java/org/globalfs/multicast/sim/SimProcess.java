package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.core.RingConfig;
import org.globalfs.multicast.merge.ImportFeed;
import org.jspecify.annotations.Nullable;

/**
 * A replica process: ring global and its home ring, merged by the production {@link ImportFeed},
 * which crash together. Its monotonic clock runs a little fast or slow; its wall clock jumps.
 */
final class SimProcess implements ImportSource {

    private static final long WALL_START_MS = 1_000_000_000;

    private final SimCluster cluster;
    private final int id;
    private final double clockRate;
    private final SimReplica global;
    private final SimReplica home;
    private final List<Runnable> held = new ArrayList<>();
    private final SimMerge merge;
    private ImportFeed feed;
    private long wallSkewMs;
    private int incarnation;
    private boolean up;
    private boolean paused;
    private boolean diskFull;
    private boolean retired;

    SimProcess(SimCluster cluster, int id, RingConfig globalConfig, RingConfig homeConfig) {
        this.cluster = cluster;
        this.id = id;
        this.clockRate = 1 + cluster.simulation().between(-800, 800) / 100_000.0;
        this.wallSkewMs = cluster.simulation().between(0, 2000);
        this.global = new SimReplica(cluster, this, globalConfig);
        this.home = new SimReplica(cluster, this, homeConfig);
        this.merge = new SimMerge(cluster, this);
        this.feed = new ImportFeed(this, homeRing());
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

    SimReplica replica(int ring) {
        return ring == 0 ? global : home;
    }

    SimMerge merge() {
        return merge;
    }

    int homeRing() {
        return home.member().ring();
    }

    // ---- time

    long localNs() {
        return (long) (cluster.simulation().nowNs() * clockRate);
    }

    long realNs(long localDurationNs) {
        return (long) (localDurationNs / clockRate);
    }

    long wallMs() {
        return WALL_START_MS + wallSkewMs + localNs() / Simulation.MS;
    }

    void jumpWallClock(long byMs) {
        wallSkewMs += byMs;
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
        run(incarnation, () -> replica(ring).member().receive(from, message));
    }

    void request(int ring, SimClient client, long operation, @Nullable Value write) {
        run(incarnation, () -> replica(ring).request(client, operation, write));
    }

    // ---- faults

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
            actions.forEach(action -> run(pausedIn, action));
        }
    }

    void crash() {
        up = false;
        paused = false;
        held.clear();
        incarnation++;
        global.crash();
        home.crash();
    }

    /** While down: both rings' log is gone, the states are not. */
    void loseLog() {
        global.member().loseLog(global);
        home.member().loseLog(home);
    }

    boolean votesLost() {
        return global.member().disk().votesLost() || home.member().disk().votesLost();
    }

    /** Stops for good, unless it is taken back. */
    void retire() {
        retired = true;
        if (up) {
            crash();
        }
    }

    void takeBack() {
        retired = false;
    }

    boolean retired() {
        return retired;
    }

    void fillDisk() {
        diskFull = true;
    }

    void makeRoom() {
        diskFull = false;
    }

    boolean diskFull() {
        return diskFull;
    }

    /** The log cannot be written: the process ends by itself, and all of it. */
    void stopForFullDisk() {
        cluster.coverage().count(Coverage.Kind.FULL_DISKS);
        crash();
        cluster.restartLater(this);
    }

    void start() {
        up = true;
        incarnation++;
        feed = new ImportFeed(this, homeRing());
        feed.executed();
        merge.start();
        int startedIn = incarnation;
        global.member().restart(global, null);
        if (incarnation == startedIn) {
            home.member().restart(home, feed);
        }
        if (incarnation == startedIn) {
            merge.readable(0, global.member().core().decided());
            merge.readable(homeRing(), home.member().core().decided());
            scheduleFlush();
        }
    }

    void change(int ring, MembershipChange change) {
        run(incarnation, () -> replica(ring).member().change(change));
    }

    boolean propose(int ring, Value value, int[] destinations) {
        return up && !paused && replica(ring).member().propose(value.bytes(), destinations);
    }

    void changeSubscription() {
        if (up && !paused) {
            merge.changeSubscription();
        }
    }

    // ---- the two rings together

    /** A timestamp seen in one ring is below those given later in the other. */
    void witness(long timestamp) {
        global.member().core().witness(timestamp);
        home.member().core().witness(timestamp);
    }

    ModelState global() {
        return global.state();
    }

    void globalExecuted() {
        home.execute();
        if (feed.executed()) {
            after(1000, () -> home.member().globalExecuted());
        }
    }

    @Override
    public long nextConcerning(int partition, long after) {
        return global.state().nextConcerning(partition, after);
    }

    @Override
    public long importedThrough(int partition) {
        return home.state().importedThrough();
    }

    private void scheduleFlush() {
        after(
                cluster.simulation().around(600 * Simulation.MS),
                () -> {
                    merge.flush();
                    (cluster.simulation().chance(0.5) ? global : home).flush();
                    scheduleFlush();
                });
    }

    @Override
    public String toString() {
        return "process " + id;
    }
}
