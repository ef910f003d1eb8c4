package org.globalfs.multicast.sim;

import java.util.Arrays;

/**
 * Links between processes that delay, lose, double and reorder messages, and can be cut one way.
 */
final class SimNetwork {

    private final Simulation simulation;
    private final boolean[][] cut;
    private double loss;
    private double duplication;
    private long meanDelayNs = Simulation.MS / 5;

    SimNetwork(Simulation simulation, int processes) {
        this.simulation = simulation;
        this.cut = new boolean[processes + 1][processes + 1];
    }

    void send(int from, int to, Runnable delivery) {
        if (cut[from][to] || simulation.chance(loss)) {
            return;
        }
        simulation.after(delay(), () -> deliver(from, to, delivery));
        if (simulation.chance(duplication)) {
            simulation.after(delay() * 3, () -> deliver(from, to, delivery));
        }
    }

    private void deliver(int from, int to, Runnable delivery) {
        if (!cut[from][to]) {
            delivery.run();
        }
    }

    private long delay() {
        return 30_000 + simulation.around(meanDelayNs);
    }

    void weather(double newLoss, double newDuplication, long newMeanDelayNs) {
        loss = newLoss;
        duplication = newDuplication;
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
