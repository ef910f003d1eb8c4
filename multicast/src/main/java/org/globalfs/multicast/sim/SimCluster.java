package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.core.RingConfig;
import org.jspecify.annotations.Nullable;

/**
 * Regions of replicas with their rings and ring global, a workload, and faults: crashes, netsplits,
 * loss, slow disks, long pauses. A run has a fault phase, in which nothing wrong may happen, and
 * then a calm phase, in which everything must.
 */
final class SimCluster {

    private static final int[][] SHAPES = {
        {3, 3}, {3, 3}, {3, 3}, {1, 3}, {1, 3}, {1, 5}, {1, 5}, {3, 1}, {1, 1}
    };
    private static final long CALM_BOUND_NS = 30 * Simulation.SECOND;

    private final Plan plan;
    private final Simulation simulation;
    private final Checker checker = new Checker();
    private final SimNetwork network;
    private final List<SimProcess> processes = new ArrayList<>();
    private final int regions;
    private final int perRegion;
    private final long syncMeanNs;
    private double faultiness;
    private long nextValue = 1;
    private int checkpoints;

    SimCluster(long seed, Plan plan) {
        this.plan = plan;
        this.simulation = new Simulation(seed);
        int[] shape = SHAPES[simulation.below(SHAPES.length)];
        this.regions = shape[0];
        this.perRegion = shape[1];
        this.network = new SimNetwork(simulation, regions * perRegion);
        this.syncMeanNs =
                simulation.chance(0.7)
                        ? simulation.between(50_000, 5 * Simulation.MS)
                        : simulation.between(5, 80) * Simulation.MS;
        this.faultiness = simulation.between(2, 10) / 10.0;
        int window = (int) simulation.between(2, 16);
        int batchBytes = (int) simulation.between(40, 400);
        int[] everybody = ids(1, regions * perRegion);
        for (int id : everybody) {
            int region = (id - 1) / perRegion;
            processes.add(
                    new SimProcess(
                            this,
                            id,
                            config(0, id, everybody, window, batchBytes, seed),
                            config(
                                    region + 1,
                                    id,
                                    ids(region * perRegion + 1, perRegion),
                                    window,
                                    batchBytes,
                                    seed)));
        }
    }

    private static int[] ids(int first, int count) {
        int[] ids = new int[count];
        for (int i = 0; i < count; i++) {
            ids[i] = first + i;
        }
        return ids;
    }

    private static RingConfig config(
            int ring, int id, int[] members, int window, int batchBytes, long seed) {
        RingConfig usual = RingConfig.defaults(ring, id, members, seed * 31 + id);
        return new RingConfig(
                ring,
                id,
                members,
                usual.heartbeatNs(),
                usual.leaseNs(),
                usual.driftPermille(),
                usual.electionJitterNs(),
                window,
                2000,
                batchBytes,
                4000,
                usual.catchUpDelayNs(),
                usual.acknowledgedAnywhere(),
                usual.seed());
    }

    Plan plan() {
        return plan;
    }

    Simulation simulation() {
        return simulation;
    }

    Checker checker() {
        return checker;
    }

    long syncNs() {
        long stall =
                simulation.chance(0.002 * faultiness) ? simulation.around(Simulation.SECOND) : 0;
        return 20_000 + simulation.around(syncMeanNs) + stall;
    }

    void send(int ring, int from, int to, Message message) {
        network.send(from, to, () -> process(to).receive(ring, from, message));
    }

    private SimProcess process(int id) {
        return processes.get(id - 1);
    }

    SimProcess.@Nullable State furthest(int ring, int except) {
        SimProcess.State best = null;
        for (SimProcess process : processes) {
            if (process.id() != except && (ring == 0 || process.homeRing() == ring)) {
                best = SimProcess.further(best, process.checkpoint(ring));
            }
        }
        return best;
    }

    void checkpointInstalled() {
        checkpoints++;
    }

    int checkpoints() {
        return checkpoints;
    }

    // ---- the run

    /** Runs both phases; the hash names everything that happened. */
    long run() {
        processes.forEach(SimProcess::start);
        workload();
        faults();
        simulation.runUntil(plan.faultSeconds() * Simulation.SECOND);
        calm();
        return simulation.hash();
    }

    private void workload() {
        long pauseNs = simulation.between(2, 20) * Simulation.MS;
        simulation.after(
                simulation.around(pauseNs),
                () -> {
                    if (faultiness > 0) {
                        propose(randomProcess(), simulation.chance(0.3) ? 0 : -1, nextValue++);
                        workload();
                    }
                });
    }

    /** Ring 0, or the process's home ring for anything else. */
    private boolean propose(SimProcess process, int ring, long value) {
        int[] destinations = ring == 0 ? destinations(value) : new int[0];
        return process.propose(ring == 0 ? 0 : process.homeRing(), value, destinations);
    }

    private int[] destinations(long value) {
        int some = (int) (value % (1 << regions));
        int[] partitions = new int[Integer.bitCount(some)];
        int count = 0;
        for (int region = 0; region < regions; region++) {
            if ((some & 1 << region) != 0) {
                partitions[count++] = region + 1;
            }
        }
        return partitions;
    }

    private SimProcess randomProcess() {
        return processes.get(simulation.below(processes.size()));
    }

    private void faults() {
        simulation.after(
                simulation.around((long) (Simulation.SECOND / 2 / faultiness)),
                () -> {
                    if (faultiness > 0) {
                        fault();
                        faults();
                    }
                });
    }

    private void fault() {
        int kind = simulation.below(10);
        simulation.note(4, kind, 0);
        switch (kind) {
            case 0 -> crash(randomProcess());
            case 1 -> powerFailure(randomProcess().homeRing());
            case 2 -> {
                for (SimProcess process : processes) {
                    if (simulation.chance(0.5)) {
                        crash(process);
                    }
                }
            }
            case 3 -> crashCoordinator();
            case 4 -> netsplit();
            case 5 -> isolate(randomProcess(), simulation.below(3));
            case 6, 7 -> network.heal();
            case 8 ->
                    network.weather(
                            simulation.below(3) * 0.1,
                            simulation.below(3) * 0.1,
                            simulation.between(50_000, 20 * Simulation.MS));
            default -> randomProcess().pause(simulation.around(Simulation.SECOND));
        }
    }

    private void crash(SimProcess process) {
        if (process.up()) {
            process.crash();
            simulation.note(5, process.id(), 0);
            simulation.after(simulation.around(Simulation.SECOND), () -> restart(process));
        }
    }

    private void restart(SimProcess process) {
        if (!process.up()) {
            process.start();
        }
    }

    private void powerFailure(int region) {
        for (SimProcess process : processes) {
            if (process.homeRing() == region) {
                crash(process);
            }
        }
    }

    private void crashCoordinator() {
        int ring = simulation.below(regions + 1);
        for (SimProcess process : processes) {
            if (process.up()
                    && (ring == 0 || process.homeRing() == ring)
                    && process.member(ring).core().leading()) {
                crash(process);
                return;
            }
        }
    }

    private void netsplit() {
        for (SimProcess a : processes) {
            for (SimProcess b : processes) {
                if (a.id() % 2 != b.id() % 2 || simulation.chance(0.1)) {
                    network.cut(a.id(), b.id());
                }
            }
        }
    }

    private void isolate(SimProcess process, int direction) {
        for (SimProcess other : processes) {
            if (direction != 1) {
                network.cut(process.id(), other.id());
            }
            if (direction != 2) {
                network.cut(other.id(), process.id());
            }
        }
    }

    // ---- liveness

    private void calm() {
        faultiness = 0;
        network.heal();
        network.weather(0, 0, Simulation.MS / 5);
        processes.forEach(this::restart);
        Map<Long, SimProcess> wanted = new HashMap<>();
        for (SimProcess process : processes) {
            for (int i = 0; i < 10; i++) {
                wanted.put(nextValue++, process);
            }
        }
        long deadline = simulation.nowNs() + CALM_BOUND_NS;
        while (!wanted.isEmpty() || !settled()) {
            Checker.check(simulation.nowNs() < deadline, "no progress in calm weather: " + state());
            wanted.forEach((value, process) -> propose(process, value % 3 == 0 ? 0 : -1, value));
            simulation.runUntil(simulation.nowNs() + 300 * Simulation.MS);
            wanted.entrySet()
                    .removeIf(entry -> {
                        int ring = entry.getKey() % 3 == 0 ? 0 : entry.getValue().homeRing();
                        return checker.delivered(ring, entry.getKey());
                    });
        }
        Checker.check(simulation.nowNs() < deadline, "no progress in calm weather: " + state());
    }

    /** Everyone executed everything, and everything that concerns a partition was imported. */
    private boolean settled() {
        for (SimProcess process : processes) {
            int home = process.homeRing();
            long imported = process.importedThrough(home);
            if (process.applied(0) != checker.decided(0)
                    || process.applied(home) != checker.decided(home)
                    || checker.nextConcerning(home, imported, Long.MAX_VALUE) >= 0) {
                return false;
            }
        }
        return true;
    }

    private String state() {
        StringBuilder text = new StringBuilder();
        for (SimProcess process : processes) {
            for (int ring : new int[] {0, process.homeRing()}) {
                text.append("\n  ")
                        .append(process.member(ring))
                        .append(", applied ")
                        .append(process.applied(ring))
                        .append(" of ")
                        .append(checker.decided(ring));
            }
        }
        return text.toString();
    }
}
