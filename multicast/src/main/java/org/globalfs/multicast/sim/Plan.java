package org.globalfs.multicast.sim;

import org.globalfs.multicast.core.RingCore;

/**
 * What a run is made of; everything else comes from the seed.
 *
 * @param factory makes the cores
 * @param votesBeforeSync a planted fault: messages that must wait for the disk do not
 * @param faultSeconds simulated length of the phase with faults
 */
record Plan(CoreFactory factory, boolean votesBeforeSync, int faultSeconds) {

    private static final int FAULT_SECONDS = 12;

    static Plan production() {
        return with(RingCore::recover);
    }

    static Plan with(CoreFactory factory) {
        return new Plan(factory, false, FAULT_SECONDS);
    }

    static Plan withVotesBeforeSync() {
        return new Plan(RingCore::recover, true, FAULT_SECONDS);
    }
}
