package org.globalfs.multicast.sim;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A session: one operation at a time on one partition, repeated wherever it may be taken until it
 * is answered. It survives every process.
 */
final class SimClient {

    private final SimCluster cluster;
    private final int session;
    private final int ring;
    private int sequence;
    private long operation;
    private int attempt;
    private @Nullable Value write;
    private long floor;
    private boolean busy;
    private int hint = -1;

    SimClient(SimCluster cluster, int session, int ring) {
        this.cluster = cluster;
        this.session = session;
        this.ring = ring;
    }

    int ring() {
        return ring;
    }

    boolean busy() {
        return busy;
    }

    /** Thinks, then begins its next operation, as long as the workload goes on. */
    void start() {
        cluster.simulation()
                .after(
                        cluster.simulation().around(60 * Simulation.MS),
                        () -> {
                            if (cluster.working()) {
                                begin();
                            }
                        });
    }

    private void begin() {
        busy = true;
        operation++;
        attempt = 0;
        write = cluster.simulation().chance(0.5) ? new Value(session, ++sequence) : null;
        floor = cluster.checker().version(ring);
        attempt();
    }

    private void attempt() {
        long of = operation;
        int number = ++attempt;
        Value written = write;
        SimProcess target = target();
        cluster.simulation().after(delayNs(), () -> target.request(ring, this, of, written));
        long patienceNs = cluster.simulation().between(300, 1500) * Simulation.MS;
        cluster.simulation().after(patienceNs, () -> again(of, number));
    }

    private void again(long of, int number) {
        if (busy && operation == of && attempt == number) {
            hint = -1;
            attempt();
        }
    }

    private SimProcess target() {
        List<Integer> replicas = cluster.replicas(ring);
        boolean follow = hint > 0 && cluster.simulation().chance(0.9);
        return cluster.process(
                follow ? hint : replicas.get(cluster.simulation().below(replicas.size())));
    }

    private long delayNs() {
        return 50_000 + cluster.simulation().around(Simulation.MS / 5);
    }

    int[] destinations(Value value) {
        return ring == 0 ? cluster.destinations(value.sequence()) : SimCluster.NO_DESTINATIONS;
    }

    /** A process answers; any answer to the operation will do, to whichever attempt. */
    void answered(long of, long version) {
        cluster.simulation()
                .after(
                        delayNs(),
                        () -> {
                            if (busy && operation == of) {
                                busy = false;
                                cluster.simulation().note(6, session, version);
                                cluster.checker().completed(ring, write != null, floor, version);
                                start();
                            }
                        });
    }

    /** A process does not take the operation, and may know who does. */
    void redirected(long of, int coordinator) {
        int number = attempt;
        cluster.simulation()
                .after(
                        delayNs() + 5 * Simulation.MS,
                        () -> {
                            if (busy && operation == of && attempt == number) {
                                hint = coordinator;
                                attempt();
                            }
                        });
    }

    @Override
    public String toString() {
        return "session " + session + " on ring " + ring + (busy ? ", waiting" : ", idle");
    }
}
