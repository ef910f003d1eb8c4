package org.globalfs.multicast.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Rings in bad weather, from one seed each. Repeat one with {@code -Dglobalfs.sim.seed=SEED} or
 * {@code globalfs sim --from SEED --seeds 1}; put a seed that failed into {@code sim/seeds.txt}.
 */
class RingSimulationTest {

    private static final int FIXED_SEEDS = 100;
    private static final int NEW_SEEDS = Integer.getInteger("globalfs.sim.seeds", 1000);
    private static final long LONGEST_NS = 300_000_000_000L;
    private static final int THREADS = 2;

    @Test
    void agreesAndGoesOnWhateverTheSeed() {
        long base = Math.floorMod(System.nanoTime(), 1_000_000_000_000L);
        System.out.println("new seeds from base " + base);
        Coverage coverage =
                runAll(
                        LongStream.concat(
                                LongStream.rangeClosed(1, FIXED_SEEDS),
                                new SplittableRandom(base)
                                        .longs(NEW_SEEDS, 1_000_000, 1_000_000_000_000L)));
        assertThat(coverage.counts()).allSatisfy((kind, count) -> assertThat(count).isPositive());
    }

    @Test
    void seedsThatOnceFailedPass() throws IOException {
        try (InputStream file =
                Objects.requireNonNull(getClass().getResourceAsStream("/sim/seeds.txt"))) {
            List<Long> seeds =
                    new String(file.readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .filter(line -> !line.isBlank() && !line.startsWith("#"))
                            .map(line -> Long.parseLong(line.split("\\s+", 2)[0]))
                            .toList();
            assertThat(seeds).isNotEmpty();
            runAll(seeds.stream().mapToLong(Long::longValue));
        }
    }

    @Test
    void theSameSeedGivesTheSameRun() {
        for (long seed : new long[] {7, 8, 9}) {
            long hash = RingSimulation.run(seed).hash();
            assertThat(RingSimulation.run(seed).hash()).isEqualTo(hash);
            assertThat(RingSimulation.run(seed + 100).hash()).isNotEqualTo(hash);
        }
    }

    @Test
    void runsTheSeedAskedFor() {
        Long seed = Long.getLong("globalfs.sim.seed");
        if (seed != null) {
            System.out.println("seed " + seed);
            assertThat(RingSimulation.run(seed).failure()).isNull();
        }
    }

    private static Coverage runAll(LongStream seeds) {
        Coverage coverage = new Coverage();
        List<String> failures = new ArrayList<>();
        long startNs = System.nanoTime();
        long[] runs = new long[1];
        Soak.run(
                seeds,
                LONGEST_NS,
                THREADS,
                outcome -> {
                    runs[0]++;
                    coverage.add(outcome.coverage());
                    if (outcome.failure() != null) {
                        failures.add("seed " + outcome.seed() + ": " + outcome.failure());
                    }
                });
        System.out.println(
                runs[0]
                        + " runs in "
                        + (System.nanoTime() - startNs) / 1_000_000
                        + " ms: "
                        + coverage);
        assertThat(failures).isEmpty();
        return coverage;
    }
}
