package org.globalfs.multicast.sim;

/** The faults of a run's first phase. */
final class Weather {

    private static final long LONGEST_CLOCK_JUMP_MS = 120_000;

    private final SimCluster cluster;
    private final Simulation simulation;

    Weather(SimCluster cluster) {
        this.cluster = cluster;
        this.simulation = cluster.simulation();
    }

    void start() {
        simulation.after(
                simulation.around((long) (Simulation.SECOND / 2 / cluster.faultiness())),
                () -> {
                    if (cluster.working()) {
                        fault();
                        start();
                    }
                });
    }

    private void fault() {
        int kind = simulation.below(14);
        simulation.note(4, kind, 0);
        switch (kind) {
            case 0 -> crash(cluster.randomProcess());
            case 1 -> powerFailure(1 + simulation.below(cluster.regions()));
            case 2 -> {
                for (SimProcess process : cluster.processes()) {
                    if (simulation.chance(0.5)) {
                        crash(process);
                    }
                }
            }
            case 3 -> crashCoordinator();
            case 4 -> netsplit();
            case 5 -> isolate(cluster.randomProcess(), simulation.below(3));
            case 6, 7 -> cluster.network().heal();
            case 8 ->
                    cluster.network()
                            .weather(
                                    simulation.below(3) * 0.1,
                                    simulation.below(3) * 0.1,
                                    simulation.below(3) * 0.02,
                                    simulation.between(50_000, 20 * Simulation.MS));
            case 9 -> isolateRegion(1 + simulation.below(cluster.regions()));
            case 10 -> fillDisk(cluster.randomProcess());
            case 11 -> {
                cluster.coverage().count(Coverage.Kind.CLOCK_JUMPS);
                cluster.randomProcess()
                        .jumpWallClock(
                                simulation.between(-LONGEST_CLOCK_JUMP_MS, LONGEST_CLOCK_JUMP_MS));
            }
            case 12 -> loseLog(cluster.randomProcess());
            default -> {
                cluster.coverage().count(Coverage.Kind.PAUSES);
                cluster.randomProcess().pause(simulation.around(Simulation.SECOND));
            }
        }
    }

    private void crash(SimProcess process) {
        if (process.up()) {
            cluster.coverage().count(Coverage.Kind.CRASHES);
            process.crash();
            simulation.note(5, process.id(), 0);
            cluster.restartLater(process);
        }
    }

    /** One at a time, and in rings that can spare one. */
    private void loseLog(SimProcess process) {
        boolean spared =
                canSpareOne(process.homeRing())
                        && canSpareOne(0)
                        && cluster.processes().stream().noneMatch(SimProcess::votesLost);
        if (spared && process.up()) {
            crash(process);
            process.loseLog();
            cluster.coverage().count(Coverage.Kind.LOGS_LOST);
        }
    }

    /**
     * Three members or more, also later: the operator may take a ring back to what it began with,
     * and one of two without its log would keep the other from ever deciding anything.
     */
    private boolean canSpareOne(int ring) {
        return cluster.initialAcceptors(ring) >= 3
                && cluster.checker().membership(ring).size() >= 3;
    }

    private void powerFailure(int region) {
        for (int id : cluster.replicas(region)) {
            crash(cluster.process(id));
        }
    }

    private void crashCoordinator() {
        int ring = simulation.below(cluster.regions() + 1);
        for (int id : cluster.replicas(ring)) {
            SimProcess process = cluster.process(id);
            if (process.up() && process.replica(ring).member().leading()) {
                crash(process);
                return;
            }
        }
    }

    private void fillDisk(SimProcess process) {
        process.fillDisk();
        simulation.after(simulation.around(Simulation.SECOND), process::makeRoom);
    }

    // ---- netsplits, of which some are one way only

    private void netsplit() {
        for (SimProcess a : cluster.processes()) {
            for (SimProcess b : cluster.processes()) {
                if (a.id() % 2 != b.id() % 2 || simulation.chance(0.1)) {
                    cluster.network().cut(a.id(), b.id());
                }
            }
        }
    }

    private void isolate(SimProcess process, int direction) {
        for (SimProcess other : cluster.processes()) {
            cut(process, other, direction);
        }
    }

    private void isolateRegion(int region) {
        int direction = simulation.below(3);
        for (int id : cluster.replicas(region)) {
            for (SimProcess other : cluster.processes()) {
                if (other.homeRing() != region) {
                    cut(cluster.process(id), other, direction);
                }
            }
        }
    }

    private void cut(SimProcess process, SimProcess other, int direction) {
        if (direction != 1) {
            cluster.network().cut(process.id(), other.id());
        }
        if (direction != 2) {
            cluster.network().cut(other.id(), process.id());
        }
    }
}
