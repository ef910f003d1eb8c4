package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.core.Ballot;

/**
 * The second phase: no more faults, so within a bound all clients are answered, all replicas reach
 * the same position, and from then on every value that a process takes is delivered, unless a
 * fail-over lost it, as the contract of {@code Multicast.propose} says. A round-robin learner then
 * delivers what is decided in all its rings soon, whatever coordinators there were before.
 */
final class CalmPhase {

    private static final long BOUND_NS = 30 * Simulation.SECOND;
    private static final long STEP_NS = 100 * Simulation.MS;
    private static final long PROPOSAL_BOUND_NS = 10 * Simulation.SECOND;
    private static final long MERGE_BOUND_NS = 5 * Simulation.SECOND;
    private static final int VALUES_A_PROCESS = 3;

    private record Proposed(SimProcess process, int ring, Value value) {}

    private final SimCluster cluster;
    private final Simulation simulation;

    CalmPhase(SimCluster cluster) {
        this.cluster = cluster;
        this.simulation = cluster.simulation();
    }

    void run() {
        cluster.network().heal();
        cluster.network().weather(0, 0, 0, Simulation.MS / 5);
        cluster.processes().forEach(SimProcess::makeRoom);
        cluster.processes().forEach(cluster::restart);
        long deadlineNs = simulation.nowNs() + BOUND_NS;
        settle(deadlineNs);
        propose(deadlineNs);
        long proposedNs = simulation.nowNs();
        settle(deadlineNs);
        if (simulation.nowNs() - proposedNs > MERGE_BOUND_NS) {
            throw new Checker.Violation(
                    "the merge lags by "
                            + (simulation.nowNs() - proposedNs) / Simulation.MS
                            + " ms:"
                            + cluster.describe());
        }
    }

    /** Until all clients are answered, and everyone has what is decided by then. */
    private void settle(long deadlineNs) {
        while (cluster.clients().stream().anyMatch(SimClient::busy) || cluster.operator().mend()) {
            step(deadlineNs);
        }
        long[] decided = new long[cluster.regions() + 1];
        for (int ring = 0; ring < decided.length; ring++) {
            decided[ring] = cluster.checker().decided(ring);
        }
        while (!reached(decided)) {
            step(deadlineNs);
        }
    }

    private void step(long deadlineNs) {
        if (simulation.nowNs() >= deadlineNs) {
            throw new Checker.Violation("no progress in calm weather:" + cluster.describe());
        }
        simulation.runUntil(simulation.nowNs() + STEP_NS);
    }

    /** Everyone executed and merged that much, and imported what concerns it of ring global. */
    private boolean reached(long[] decided) {
        for (SimProcess process : cluster.processes()) {
            int home = process.homeRing();
            boolean follows = cluster.checker().membership(0).contains(process.id());
            if (!follows) {
                continue;
            }
            if (!cluster.checker().membership(home).contains(process.id())) {
                if (process.global().applied() < decided[0]) {
                    return false;
                }
                continue;
            }
            ModelState state = process.replica(home).state();
            long toImport = cluster.checker().nextConcerning(home, state.importedThrough());
            if (process.global().applied() < decided[0]
                    || state.applied() < decided[home]
                    || toImport >= 0 && toImport <= decided[0]
                    || !process.merge().reached(0, cluster.checker().toMerge(0, decided[0]))
                    || !process.merge()
                            .reached(home, cluster.checker().toMerge(home, decided[home]))) {
                return false;
            }
        }
        return true;
    }

    private void propose(long deadlineNs) {
        List<Ballot> ballots = ballots();
        List<Proposed> taken = new ArrayList<>();
        for (SimProcess process : cluster.processes()) {
            if (!cluster.checker().membership(process.homeRing()).contains(process.id())) {
                continue;
            }
            for (int i = 0; i < VALUES_A_PROCESS; i++) {
                int ring = i == 0 ? 0 : process.homeRing();
                Proposed proposed = new Proposed(process, ring, cluster.newValue());
                while (!cluster.propose(process, ring, proposed.value)) {
                    step(deadlineNs);
                }
                if (isLed(process, ring)) {
                    taken.add(proposed);
                }
            }
        }
        long boundNs = simulation.nowNs() + PROPOSAL_BOUND_NS;
        while (!taken.isEmpty() && simulation.nowNs() < boundNs) {
            simulation.runUntil(simulation.nowNs() + STEP_NS);
            taken.removeIf(p -> cluster.checker().delivered(p.ring, p.value));
        }
        for (Proposed lost : taken) {
            if (ballots().get(lost.ring).equals(ballots.get(lost.ring))) {
                throw new Checker.Violation(
                        lost + " was taken, and is lost without a fail-over:" + cluster.describe());
            }
        }
    }

    /** Whether whom the process takes for the coordinator is one: not if it was just deposed. */
    private boolean isLed(SimProcess process, int ring) {
        int coordinator = process.replica(ring).member().core().coordinator();
        return coordinator > 0
                && cluster.process(coordinator).replica(ring).member().core().leading();
    }

    /** The highest promise in each ring. */
    private List<Ballot> ballots() {
        List<Ballot> ballots = new ArrayList<>();
        for (int ring = 0; ring <= cluster.regions(); ring++) {
            Ballot highest = Ballot.NONE;
            for (int id : cluster.replicas(ring)) {
                Ballot ballot = cluster.process(id).replica(ring).member().core().ballot();
                highest = ballot.compareTo(highest) > 0 ? ballot : highest;
            }
            ballots.add(highest);
        }
        return ballots;
    }
}
