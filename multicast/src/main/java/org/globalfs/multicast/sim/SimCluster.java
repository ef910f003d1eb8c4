package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.core.RingConfig;
import org.jspecify.annotations.Nullable;

/**
 * Regions of replicas with their home rings and ring global, and a workload: clients that want
 * answers, and values that nobody waits for.
 */
final class SimCluster {

    static final int[] NO_DESTINATIONS = {};

    private static final int[][] SHAPES = {
        {3, 3}, {3, 1}, {3, 1}, {2, 3}, {2, 2}, {1, 3}, {1, 3}, {1, 3}, {1, 5}, {1, 1}
    };
    private static final int CLIENTS_A_RING = 2;

    private final Plan plan;
    private final Simulation simulation;
    private final Coverage coverage = new Coverage();
    private final Checker checker;
    private final Merging merging;
    private final SimNetwork network;
    private final List<SimProcess> processes = new ArrayList<>();
    private final List<SimClient> clients = new ArrayList<>();
    private final int[][] initial;
    private final int[][] replicas;
    private final SimOperator operator;
    private final int regions;
    private final int perRegion;
    private final int spares;
    private final long syncMeanNs;
    private final double faultiness;
    private boolean working = true;
    private int nextValue = 1;

    SimCluster(long seed, Plan plan) {
        this.plan = plan;
        this.simulation = new Simulation(seed);
        this.merging = Merging.of(seed);
        this.checker = new Checker(coverage, this::durableOnMajority, merging.turn());
        int[] shape = SHAPES[simulation.below(SHAPES.length)];
        this.regions = shape[0];
        this.perRegion = shape[1];
        // A run has changes of membership or round-robin learners, not both.
        this.spares = merging.on() ? 0 : simulation.below(3);
        this.network = new SimNetwork(simulation, distances());
        this.syncMeanNs =
                simulation.chance(0.7)
                        ? simulation.between(50_000, 5 * Simulation.MS)
                        : simulation.between(5, 80) * Simulation.MS;
        this.faultiness = simulation.between(2, 10) / 10.0;
        this.initial = new int[regions + 1][];
        this.replicas = new int[regions + 1][];
        int slots = perRegion + spares;
        replicas[0] = ids(1, regions * slots);
        for (int region = 1; region <= regions; region++) {
            replicas[region] = ids((region - 1) * slots + 1, slots);
            initial[region] = ids((region - 1) * slots + 1, perRegion);
        }
        initial[0] = Arrays.stream(initial, 1, regions + 1).flatMapToInt(Arrays::stream).toArray();
        for (int ring = 0; ring <= regions; ring++) {
            checker.begin(ring, Membership.initial(initial[ring]));
        }
        this.operator = new SimOperator(this);
        int window = (int) simulation.between(2, 16);
        int batchBytes = (int) simulation.between(40, 400);
        for (int id : replicas[0]) {
            int home = (id - 1) / slots + 1;
            processes.add(
                    new SimProcess(
                            this,
                            id,
                            config(0, id, window, batchBytes, seed),
                            config(home, id, window, batchBytes, seed)));
        }
        int session = 0;
        for (int ring = 0; ring <= regions; ring++) {
            for (int i = 0; i < CLIENTS_A_RING; i++) {
                clients.add(new SimClient(this, ++session, ring));
            }
        }
    }

    private static int[] ids(int first, int count) {
        int[] ids = new int[count];
        for (int i = 0; i < count; i++) {
            ids[i] = first + i;
        }
        return ids;
    }

    /** Regions next door, or an ocean apart. */
    private long[][] distances() {
        long apartNs = simulation.chance(0.5) ? 0 : simulation.between(5, 60) * Simulation.MS;
        int slots = perRegion + spares;
        int count = regions * slots + 1;
        long[][] distances = new long[count][count];
        for (int a = 1; a < count; a++) {
            for (int b = 1; b < count; b++) {
                boolean sameRegion = (a - 1) / slots == (b - 1) / slots;
                distances[a][b] = sameRegion ? 0 : apartNs;
            }
        }
        return distances;
    }

    /** The defaults, with limits so small that they are met. */
    private RingConfig config(int ring, int id, int window, int batchBytes, long seed) {
        RingConfig usual = RingConfig.defaults(ring, id, initial[ring], seed * 31 + id);
        return new RingConfig(
                ring,
                id,
                initial[ring],
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
                merging.lambda(),
                merging.deltaNs(),
                plan.spreads().of(seed, ring),
                usual.seed());
    }

    Plan plan() {
        return plan;
    }

    Simulation simulation() {
        return simulation;
    }

    Merging merging() {
        return merging;
    }

    /** The last instance of the ring that no round-robin learner would need again. */
    long mergedEverywhere(int ring) {
        long least = Long.MAX_VALUE;
        for (int id : replicas[ring]) {
            least = Math.min(least, process(id).merge().keeps(ring));
        }
        return least;
    }

    Checker checker() {
        return checker;
    }

    Coverage coverage() {
        return coverage;
    }

    SimNetwork network() {
        return network;
    }

    List<SimProcess> processes() {
        return processes;
    }

    List<SimClient> clients() {
        return clients;
    }

    int regions() {
        return regions;
    }

    /** Ids of the processes that the ring has, had or may get as members. */
    List<Integer> replicas(int ring) {
        return Arrays.stream(replicas[ring]).boxed().toList();
    }

    /** How many acceptors the ring began with. */
    int initialAcceptors(int ring) {
        return initial[ring].length;
    }

    SimOperator operator() {
        return operator;
    }

    SimProcess process(int id) {
        return processes.get(id - 1);
    }

    SimProcess randomProcess() {
        return processes.get(simulation.below(processes.size()));
    }

    /** From 0.2, which is unfriendly, to 1. */
    double faultiness() {
        return faultiness;
    }

    long syncNs() {
        long stall =
                working && simulation.chance(0.002 * faultiness)
                        ? simulation.around(Simulation.SECOND)
                        : 0;
        return 20_000 + simulation.around(syncMeanNs) + stall;
    }

    void send(int ring, int from, int to, Message message) {
        network.send(from, to, () -> process(to).receive(ring, from, message));
    }

    private boolean durableOnMajority(int ring, long instance, Batch batch) {
        int have = 0;
        Membership membership = checker.membershipAt(ring, instance);
        for (int id : membership.acceptors()) {
            SimDisk disk = process(id).replica(ring).member().disk();
            have += disk.votesLost() || disk.durable(instance, batch) ? 1 : 0;
        }
        return have >= membership.majority();
    }

    @Nullable ModelState furthest(int ring, int except) {
        ModelState best = null;
        for (int id : replicas[ring]) {
            ModelState candidate = process(id).replica(ring).flushed();
            boolean serves = id != except && process(id).up();
            if (serves && (best == null || candidate.applied() > best.applied())) {
                best = candidate;
            }
        }
        return best;
    }

    void restartLater(SimProcess process) {
        simulation.after(simulation.around(Simulation.SECOND), () -> restart(process));
    }

    void restart(SimProcess process) {
        if (!process.up() && !process.retired()) {
            process.start();
        }
    }

    // ---- the run

    /** Starts everything and lets the weather rage for the phase with faults. */
    void storm() {
        processes.forEach(SimProcess::start);
        clients.forEach(SimClient::start);
        workload(simulation.between(4, 30) * Simulation.MS);
        new Weather(this).start();
        operator.start();
        simulation.runUntil(plan.faultSeconds() * Simulation.SECOND);
        working = false;
    }

    /** Whether the workload and the faults go on. */
    boolean working() {
        return working;
    }

    private void workload(long pauseNs) {
        simulation.after(
                simulation.around(pauseNs),
                () -> {
                    if (working) {
                        SimProcess process = randomProcess();
                        propose(
                                process,
                                simulation.chance(0.3) ? 0 : process.homeRing(),
                                newValue());
                        if (merging.on() && simulation.chance(0.01)) {
                            process.changeSubscription();
                        }
                        workload(pauseNs);
                    }
                });
    }

    Value newValue() {
        return new Value(Value.NOBODY, nextValue++);
    }

    boolean propose(SimProcess process, int ring, Value value) {
        return process.propose(
                ring, value, ring == 0 ? destinations(value.sequence()) : NO_DESTINATIONS);
    }

    /** Some of the partitions, by the bits of the number. */
    int[] destinations(int number) {
        int some = number % (1 << regions);
        int[] partitions = new int[Integer.bitCount(some)];
        int count = 0;
        for (int region = 0; region < regions; region++) {
            if ((some & 1 << region) != 0) {
                partitions[count++] = region + 1;
            }
        }
        return partitions;
    }

    /** One line a replica and client, for messages. */
    String describe() {
        StringBuilder text = new StringBuilder();
        for (SimProcess process : processes) {
            for (int ring : new int[] {0, process.homeRing()}) {
                SimReplica replica = process.replica(ring);
                text.append("\n  ")
                        .append(replica.member())
                        .append(process.up() ? "" : " (down)")
                        .append(", applied ")
                        .append(replica.applied())
                        .append(" of ")
                        .append(checker.decided(ring))
                        .append(", imported ")
                        .append(replica.state().importedThrough());
            }
            text.append(process.merge());
        }
        for (int ring = 0; ring <= regions; ring++) {
            text.append("\n  ring ").append(ring).append(": ").append(checker.membership(ring));
        }
        clients.forEach(client -> text.append("\n  ").append(client));
        return text.toString();
    }
}
