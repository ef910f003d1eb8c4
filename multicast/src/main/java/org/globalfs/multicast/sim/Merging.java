package org.globalfs.multicast.sim;

import java.util.SplittableRandom;

/**
 * Whether a run has round-robin learners, and how they merge. Drawn from the seed on its own, so
 * that the other runs stay what they are.
 *
 * @param lambda 0: no such learners, and no skips
 * @param turn M
 * @param room instances of a ring that a learner buffers
 */
record Merging(long lambda, int turn, long deltaNs, int room) {

    private static final int ONE_IN = 3;

    static Merging of(long seed) {
        SplittableRandom random = new SplittableRandom(seed ^ 0x5eed_0f_7e_4e_55L);
        if (random.nextInt(ONE_IN) > 0) {
            return new Merging(0, 1, 0, 1);
        }
        return new Merging(
                random.nextLong(50, 5000),
                random.nextInt(1, 6),
                random.nextLong(20, 150) * Simulation.MS,
                random.nextInt(1, 12));
    }

    boolean on() {
        return lambda > 0;
    }
}
