package org.globalfs.bench.placement;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

/** The yardstick is right, and policies come near it. */
class PlacementTest {

    /** Of all placements that stay long enough, by trying each. */
    private static long bestOfAll(long[][] operations, int stay, int[] placement, int second) {
        if (second == placement.length) {
            return value(operations, placement, stay);
        }
        long best = -1;
        for (int region = 0; region < operations.length; region++) {
            placement[second] = region;
            best = Math.max(best, bestOfAll(operations, stay, placement, second + 1));
        }
        return best;
    }

    /** -1: it moves on too early. */
    private static long value(long[][] operations, int[] placement, int stay) {
        long value = 0;
        int arrived = -stay;
        for (int second = 0; second < placement.length; second++) {
            if (second > 0 && placement[second] != placement[second - 1]) {
                if (second - arrived < stay) {
                    return -1;
                }
                arrived = second;
            }
            value += operations[placement[second]][second];
        }
        return value;
    }

    @Test
    void noPlacementIsBetterThanTheOptimum() {
        Random random = new Random(5);
        for (int round = 0; round < 300; round++) {
            int stay = 1 + random.nextInt(4);
            long[][] operations = new long[3][7];
            for (long[] region : operations) {
                for (int second = 0; second < region.length; second++) {
                    region[second] = random.nextInt(3) == 0 ? random.nextInt(10) : 0;
                }
            }
            long found = value(operations, Optimum.placement(operations, stay), stay);
            assertThat(found).isEqualTo(bestOfAll(operations, stay, new int[7], 0));
        }
    }

    @Test
    void whoeverPullsAtOnceMovesMoreForLess() {
        Comparison comparison = new Comparison(1, 600, 300);
        Comparison.Result threshold = comparison.threshold();
        assertThat(comparison.eager().directories()).isGreaterThan(10 * threshold.directories());
        assertThat(comparison.eager().total()).isLessThan(threshold.total());
    }

    @Test
    void aThresholdComesNearTheOptimumAndWhatStaysDoesNot() {
        Comparison comparison = new Comparison(1, 3_600, 300);
        double optimum = comparison.optimum().total();
        assertThat(comparison.still().total()).isLessThan(0.8 * optimum);
        assertThat(comparison.threshold().total()).isBetween(0.9 * optimum, optimum);
    }
}
