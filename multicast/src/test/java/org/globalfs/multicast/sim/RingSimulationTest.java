package org.globalfs.multicast.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.globalfs.multicast.core.MutantCores;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rings in bad weather, from one seed each. Repeat one with {@code -Dglobalfs.sim.seed=SEED}; put a
 * seed that failed into {@code sim/seeds.txt}.
 */
class RingSimulationTest {

    private static final int FIXED_SEEDS = 100;
    private static final int NEW_SEEDS = 60;
    private static final int MUTANT_SEEDS = 200;

    /** Faults that the simulator must find within a few seeds. */
    enum Mutant {
        VOTE_BEFORE_SYNC,
        CONSTANT_BALLOT,
        NO_PHASE_1,
        FORGETFUL,
        UNSEEN_LEASE;

        private Plan plan() {
            return switch (this) {
                case VOTE_BEFORE_SYNC -> Plan.withVotesBeforeSync();
                case CONSTANT_BALLOT -> Plan.with(MutantCores::constantBallot);
                case NO_PHASE_1 -> Plan.with(MutantCores::noPhase1);
                case FORGETFUL -> Plan.with(MutantCores::forgetful);
                case UNSEEN_LEASE -> Plan.with(MutantCores::unseenLease);
            };
        }
    }

    @Test
    void agreesAndGoesOnWhateverTheSeed() {
        long base = System.nanoTime();
        System.out.println("new seeds from base " + base);
        SplittableRandom random = new SplittableRandom(base);
        runAll(
                LongStream.concat(
                        LongStream.rangeClosed(1, FIXED_SEEDS),
                        random.longs(NEW_SEEDS, 1_000_000, 1_000_000_000)));
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
            long hash = new SimCluster(seed, Plan.production()).run();
            assertThat(new SimCluster(seed, Plan.production()).run()).isEqualTo(hash);
            assertThat(new SimCluster(seed + 100, Plan.production()).run()).isNotEqualTo(hash);
        }
    }

    @Test
    void runsTheSeedAskedFor() {
        Long seed = Long.getLong("globalfs.sim.seed");
        if (seed != null) {
            System.out.println("seed " + seed);
            new SimCluster(seed, Plan.production()).run();
        }
    }

    @ParameterizedTest
    @EnumSource
    void catchesMutants(Mutant mutant) {
        Optional<String> caught =
                LongStream.rangeClosed(1, MUTANT_SEEDS)
                        .mapToObj(seed -> failure(seed, mutant.plan()))
                        .flatMap(Optional::stream)
                        .findFirst();
        assertThat(caught).as("%s went unnoticed in %s seeds", mutant, MUTANT_SEEDS).isPresent();
        System.out.println(mutant + " caught: " + caught.get().lines().findFirst().orElse(""));
    }

    private static void runAll(LongStream seeds) {
        List<String> failures =
                seeds.parallel()
                        .mapToObj(seed -> failure(seed, Plan.production()))
                        .flatMap(Optional::stream)
                        .toList();
        assertThat(failures).isEmpty();
    }

    private static Optional<String> failure(long seed, Plan plan) {
        try {
            new SimCluster(seed, plan).run();
            return Optional.empty();
        } catch (AssertionError e) {
            return Optional.of("seed " + seed + ": " + e);
        }
    }
}
