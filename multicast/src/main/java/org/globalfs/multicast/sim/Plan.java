package org.globalfs.multicast.sim;

import java.util.function.Predicate;
import java.util.function.Supplier;
import org.globalfs.multicast.core.RingCore;

/**
 * What a run is made of; everything else comes from the seed.
 *
 * @param cores makes the cores
 * @param disks makes the disks
 * @param acknowledges whether a process may tell a client that its write, which it took and
 *     executed, is done
 * @param faultSeconds simulated length of the phase with faults
 */
record Plan(
        CoreFactory cores,
        Supplier<SimDisk> disks,
        Predicate<SimMember> acknowledges,
        int faultSeconds) {

    private static final int FAULT_SECONDS = 8;

    static Plan production() {
        return new Plan(
                RingCore::recover,
                SimDisk::new,
                member -> member.ring() == 0 || member.leading(),
                FAULT_SECONDS);
    }

    Plan withCores(CoreFactory others) {
        return new Plan(others, disks, acknowledges, faultSeconds);
    }

    Plan onDisks(Supplier<SimDisk> others) {
        return new Plan(cores, others, acknowledges, faultSeconds);
    }

    Plan acknowledgingWhen(Predicate<SimMember> other) {
        return new Plan(cores, disks, other, faultSeconds);
    }
}
