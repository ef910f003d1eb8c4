package org.globalfs.multicast.sim;

import java.util.SplittableRandom;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.core.RingCore;
import org.globalfs.protocol.Dissemination;

/**
 * What a run is made of; everything else comes from the seed.
 *
 * @param cores makes the cores
 * @param disks makes the disks
 * @param acknowledges whether a process may tell a client that its write, which it took and
 *     executed, is done
 * @param spreads how a run's rings spread their values
 * @param resume where a round-robin learner goes on whose state is there
 * @param faultSeconds simulated length of the phase with faults
 */
record Plan(
        CoreFactory cores,
        Supplier<SimDisk> disks,
        Predicate<SimMember> acknowledges,
        Spreads spreads,
        UnaryOperator<MergePosition> resume,
        int faultSeconds) {

    private static final int FAULT_SECONDS = 8;

    /** Chooses a run's dissemination, ring by ring. */
    @FunctionalInterface
    interface Spreads {
        Dissemination of(long seed, int ring);
    }

    static Plan production() {
        return new Plan(
                RingCore::recover,
                SimDisk::new,
                member -> member.ring() == 0 || member.leading(),
                Plan::eitherWay,
                UnaryOperator.identity(),
                FAULT_SECONDS);
    }

    /** Apart from the run's own chance, so that a run is the same but for this choice. */
    private static Dissemination eitherWay(long seed, int ring) {
        boolean star = new SplittableRandom(31 * seed + ring).nextBoolean();
        return star ? Dissemination.STAR : Dissemination.RING;
    }

    Plan withCores(CoreFactory others) {
        return new Plan(others, disks, acknowledges, spreads, resume, faultSeconds);
    }

    Plan onDisks(Supplier<SimDisk> others) {
        return new Plan(cores, others, acknowledges, spreads, resume, faultSeconds);
    }

    Plan acknowledgingWhen(Predicate<SimMember> other) {
        return new Plan(cores, disks, other, spreads, resume, faultSeconds);
    }

    Plan resumingAt(UnaryOperator<MergePosition> other) {
        return new Plan(cores, disks, acknowledges, spreads, other, faultSeconds);
    }
}
