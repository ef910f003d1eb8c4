package org.globalfs.multicast.sim;

import java.util.List;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MembershipChange;
import org.jspecify.annotations.Nullable;

/**
 * Changes the rings' memberships at random, by the rules that the manual gives: a replica follows
 * ring 0 before it joins its home ring, leaves its home ring first, and is stopped for good only
 * once the coordinators say that it left.
 */
final class SimOperator {

    private static final int LEAST_ACCEPTORS = 3;

    private final SimCluster cluster;
    private final Simulation simulation;

    SimOperator(SimCluster cluster) {
        this.cluster = cluster;
        this.simulation = cluster.simulation();
    }

    /** Works in some runs only, then without rest as long as the workload goes on. */
    void start() {
        if (!cluster.merging().on() && simulation.chance(0.6)) {
            work(simulation.between(200, 800) * Simulation.MS);
        }
    }

    private void work(long pauseNs) {
        simulation.after(
                simulation.around(pauseNs),
                () -> {
                    if (cluster.working()) {
                        change();
                        work(pauseNs);
                    }
                });
    }

    /** Asks whoever leads a ring for some change; often it is refused. */
    private void change() {
        int ring = simulation.below(cluster.regions() + 1);
        List<Integer> replicas = cluster.replicas(ring);
        int id = replicas.get(simulation.below(replicas.size()));
        int other = replicas.get(simulation.below(replicas.size()));
        Membership current = cluster.checker().membership(ring);
        if (!current.contains(id)) {
            if (simulation.chance(0.5) && left(cluster.process(id))) {
                cluster.process(id).retire();
            } else if (mayJoin(ring, id)) {
                takeBack(cluster.process(id));
                request(ring, new MembershipChange.AddLearner(id, ""));
            }
        } else if (current.rank(id) < 0) {
            boolean replaces = current.rank(other) >= 0 && simulation.chance(0.5);
            request(
                    ring,
                    replaces
                            ? new MembershipChange.Replace(other, id)
                            : new MembershipChange.Promote(id));
        } else if (mayLeave(ring, id, current)) {
            request(ring, new MembershipChange.Remove(id));
        }
    }

    /** Whether the coordinators of its rings say that it is in none of them. */
    private boolean left(SimProcess process) {
        return leftRing(0, process.id()) && leftRing(process.homeRing(), process.id());
    }

    private boolean leftRing(int ring, int id) {
        SimProcess coordinator = coordinator(ring);
        return coordinator != null
                && !coordinator.replica(ring).member().core().membership().contains(id);
    }

    private void takeBack(SimProcess process) {
        if (process.retired()) {
            process.takeBack();
            cluster.restart(process);
        }
    }

    private boolean mayJoin(int ring, int id) {
        return ring == 0 || cluster.checker().membership(0).contains(id);
    }

    private boolean mayLeave(int ring, int id, Membership current) {
        int least = Math.min(LEAST_ACCEPTORS, cluster.initialAcceptors(ring));
        boolean leavesHome = ring == 0 && homeOf(id).contains(id);
        return !leavesHome && current.size() > least;
    }

    private Membership homeOf(int id) {
        return cluster.checker().membership(cluster.process(id).homeRing());
    }

    private void request(int ring, MembershipChange change) {
        SimProcess coordinator = coordinator(ring);
        if (coordinator != null) {
            coordinator.change(ring, change);
        }
    }

    private @Nullable SimProcess coordinator(int ring) {
        for (int id : cluster.replicas(ring)) {
            SimProcess process = cluster.process(id);
            if (process.up() && process.replica(ring).member().leading()) {
                return process;
            }
        }
        return null;
    }

    /**
     * Whoever is in a home ring but not in ring 0 is added to it, and who was stopped for good is
     * started when it is in a ring after all: two changes may have crossed each other. False:
     * nothing is left to do.
     */
    boolean mend() {
        boolean wrong = false;
        for (SimProcess process : cluster.processes()) {
            boolean member =
                    homeOf(process.id()).contains(process.id())
                            || cluster.checker().membership(0).contains(process.id());
            if (member) {
                takeBack(process);
            }
            if (homeOf(process.id()).contains(process.id())
                    && !cluster.checker().membership(0).contains(process.id())) {
                wrong = true;
                request(0, new MembershipChange.AddLearner(process.id(), ""));
            }
        }
        return wrong;
    }
}
