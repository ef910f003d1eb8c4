package org.globalfs.multicast.sim;

import java.util.Arrays;

/** Links between processes that delay, reorder, lose and double messages, or are cut one way. */
final class SimNetwork {

    private static final long LEAST_NS = 30_000;

    private final Simulation simulation;
    private final long[][] distanceNs;
    private final boolean[][] cut;
    private double loss;
    private double duplication;
    private double lateness;
    private long meanDelayNs = Simulation.MS / 5;

    /** Distances by process id; ids count from 1. */
    SimNetwork(Simulation simulation, long[][] distanceNs) {
        this.simulation = simulation;
        this.distanceNs = distanceNs;
        this.cut = new boolean[distanceNs.length][distanceNs.length];
    }

    void send(int from, int to, Runnable delivery) {
        if (cut[from][to] || loss > 0 && simulation.chance(loss)) {
            return;
        }
        long least = distanceNs[from][to] + LEAST_NS;
        if (lateness > 0 && simulation.chance(lateness)) {
            least += simulation.around(Simulation.SECOND);
        }
        simulation.after(least + simulation.around(meanDelayNs), () -> deliver(from, to, delivery));
        if (duplication > 0 && simulation.chance(duplication)) {
            simulation.after(
                    least + 3 * simulation.around(meanDelayNs), () -> deliver(from, to, delivery));
        }
    }

    private void deliver(int from, int to, Runnable delivery) {
        if (!cut[from][to]) {
            delivery.run();
        }
    }

    /** Late messages come about a second after the others, when nobody expects them any more. */
    void weather(double newLoss, double newDuplication, double newLateness, long newMeanDelayNs) {
        loss = newLoss;
        duplication = newDuplication;
        lateness = newLateness;
        meanDelayNs = newMeanDelayNs;
    }

    void cut(int from, int to) {
        cut[from][to] = true;
    }

    void heal() {
        for (boolean[] row : cut) {
            Arrays.fill(row, false);
        }
    }
}
