package org.globalfs.datastore.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RequestMonitorTest {
    private static final ChunkLayout LAYOUT = new ChunkLayout(100, 2, List.of(1, 2, 3));

    private static BlockKey key(int i) {
        return new BlockKey(i, ~i);
    }

    private static void ask(RequestMonitor monitor, int block, int times) {
        for (int i = 0; i < times; i++) {
            monitor.record(key(block), LAYOUT);
        }
    }

    @Test
    void aPeriodCountsAsMuchAsThePaperSays() {
        RequestMonitor monitor = new RequestMonitor(1024, 10);
        ask(monitor, 1, 9_000);
        ask(monitor, 2, 1_000);
        monitor.endPeriod();
        ask(monitor, 2, 10_000);
        monitor.endPeriod();
        assertThat(monitor.popularity(key(1))).isCloseTo(0.2 * 0.9, within(1e-6));
        assertThat(monitor.popularity(key(2))).isCloseTo(0.8 + 0.2 * 0.1, within(1e-6));
    }

    @Test
    void fewRequestsMoveTheAverageByTheirNumber() {
        RequestMonitor monitor = new RequestMonitor(1024, 10);
        ask(monitor, 1, 5_000);
        monitor.endPeriod();
        ask(monitor, 2, 50);
        monitor.endPeriod();
        assertThat(monitor.popularity(key(2))).isCloseTo(0.8 * 50 / 5_000, within(1e-6));
        assertThat(monitor.popularity(key(1))).isCloseTo(1 - 0.008, within(1e-6));
    }

    @Test
    void whatNobodyAsksForAnyMoreIsForgotten() {
        RequestMonitor monitor = new RequestMonitor(1024, 10);
        ask(monitor, 1, 5_000);
        monitor.endPeriod();
        for (int period = 0; period < 12; period++) {
            ask(monitor, 2, 5_000);
            monitor.endPeriod();
        }
        assertThat(monitor.candidates()).extracting(Candidate::key).containsExactly(key(2));
    }

    /** Ten thousand times more blocks than it may remember, and it still knows the popular ones. */
    @Test
    void popularBlocksAreFoundAmongMillionsInBoundedMemory() {
        Random random = new Random(4711);
        RequestMonitor monitor = new RequestMonitor(1 << 14, 100);
        for (int i = 0; i < 2_000_000; i++) {
            int popular = random.nextInt(20);
            boolean once = random.nextInt(4) > 0;
            monitor.record(once ? key(1_000 + i) : key(popular), LAYOUT);
        }
        monitor.endPeriod();
        List<Candidate> candidates = monitor.candidates();
        assertThat(candidates).hasSizeLessThanOrEqualTo(100);
        for (int popular = 0; popular < 20; popular++) {
            BlockKey key = key(popular);
            assertThat(candidates).extracting(Candidate::key).contains(key);
            assertThat(monitor.popularity(key)).isBetween(0.25 / 20 * 0.95, 0.25 / 20 * 1.2);
        }
    }

    @Test
    void equallyPopularBlocksAreCandidatesOfEqualPopularity() {
        Random random = new Random(4711);
        RequestMonitor monitor = new RequestMonitor(4096, 300);
        for (int i = 0; i < 5_000; i++) {
            monitor.record(key(random.nextInt(300)), LAYOUT);
        }
        monitor.endPeriod();
        double least =
                monitor.candidates().stream().mapToDouble(Candidate::popularity).min().orElse(0);
        double most =
                monitor.candidates().stream().mapToDouble(Candidate::popularity).max().orElse(0);
        assertThat(most / least).isLessThan(1.5);
    }
}
