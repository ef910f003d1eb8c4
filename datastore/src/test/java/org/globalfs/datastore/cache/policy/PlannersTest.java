package org.globalfs.datastore.cache.policy;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PlannersTest {
    private static final long SEED = 4711;
    private static final double CACHE_MS = 5;

    /** Thesis, table 5.1. */
    private static final int[] FRANKFURT = {80, 200, 600, 1400, 3400, 4600};

    private static final List<CachePlanner> PLANNERS =
            List.of(new PublishedPlanner(), new HullPlanner());

    private static RegionLatencies latencies(int... ms) {
        RegionLatencies latencies = new RegionLatencies(1_000);
        for (int region = 0; region < ms.length; region++) {
            latencies.observe(region, ms[region]);
        }
        return latencies;
    }

    private static ChunkLayout twoInEach(int chunkBytes) {
        return new ChunkLayout(
                chunkBytes, 9, IntStream.range(0, 12).map(i -> i % 6).boxed().toList());
    }

    private static double value(
            CachePlan plan, List<Candidate> candidates, RegionLatencies latencies) {
        double value = 0;
        for (Candidate candidate : candidates) {
            ChunkLayout layout = candidate.layout();
            value +=
                    candidate.popularity()
                            * (layout.readMs(0, latencies, CACHE_MS)
                                    - layout.readMs(plan.of(candidate.key()), latencies, CACHE_MS));
        }
        return value;
    }

    private static long bytes(CachePlan plan, List<Candidate> candidates) {
        long bytes = 0;
        for (Candidate candidate : candidates) {
            bytes +=
                    (long) Long.bitCount(plan.of(candidate.key()))
                            * candidate.layout().chunkBytes();
        }
        return bytes;
    }

    /** The example of thesis 5.4.1. */
    @Test
    void optionsAreThoseOfThePaper() {
        List<CachingOption> options =
                CachingOption.of(twoInEach(1), latencies(FRANKFURT), CACHE_MS);
        assertThat(options).extracting(CachingOption::bytes).containsExactly(1, 3, 5, 7, 9);
        assertThat(options)
                .extracting(CachingOption::savedMs)
                .containsExactly(2000.0, 2800.0, 3200.0, 3320.0, 3395.0);
        assertThat(options.getFirst().chunks()).isIn(1L << 4, 1L << 10); // one of Tokyo's
    }

    @Test
    void everyPlannerIsNearTheOptimumInThePapersSetting() {
        RegionLatencies latencies = latencies(FRANKFURT);
        for (double skew : new double[] {0, 0.2, 0.8, 1.1, 1.4}) {
            List<Candidate> candidates = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                candidates.add(
                        new Candidate(
                                new BlockKey(0, i), 1000 / Math.pow(i + 1, skew), twoInEach(100)));
            }
            for (int megabytes : new int[] {1, 5, 10, 20, 50, 100, 300, 500}) {
                long capacity = megabytes * 900L;
                double optimum =
                        value(
                                new ExactPlanner().plan(candidates, latencies, CACHE_MS, capacity),
                                candidates,
                                latencies);
                for (CachePlanner planner : PLANNERS) {
                    CachePlan plan = planner.plan(candidates, latencies, CACHE_MS, capacity);
                    assertThat(plan.bytes())
                            .isEqualTo(bytes(plan, candidates))
                            .isLessThanOrEqualTo(capacity);
                    // The published one misses by 2.2 % where almost everything fits.
                    double least = megabytes <= 100 ? 0.98 : 0.975;
                    assertThat(value(plan, candidates, latencies))
                            .as("%s, skew %s, %d MB", planner, skew, megabytes)
                            .isBetween(optimum * least, optimum * 1.000001);
                }
            }
        }
    }

    /** Where blocks differ a lot the published algorithm can miss a quarter of the optimum. */
    @Test
    void randomLayoutsOfEqualChunks() {
        Random random = new Random(SEED);
        for (int round = 0; round < 60; round++) {
            int regions = 1 + random.nextInt(6);
            RegionLatencies latencies = latencies(random.ints(regions, 1, 500).toArray());
            List<Candidate> candidates = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                candidates.add(candidate(i, 100, regions, random));
            }
            long capacity = 100L * (10 + random.nextInt(150));
            double optimum =
                    value(
                            new ExactPlanner().plan(candidates, latencies, CACHE_MS, capacity),
                            candidates,
                            latencies);
            for (CachePlanner planner : PLANNERS) {
                CachePlan plan = planner.plan(candidates, latencies, CACHE_MS, capacity);
                assertThat(bytes(plan, candidates)).isLessThanOrEqualTo(capacity);
                assertThat(value(plan, candidates, latencies))
                        .as("%s, round %d", planner, round)
                        .isBetween(
                                optimum * (planner instanceof HullPlanner ? 0.9 : 0.6),
                                optimum * 1.000001);
            }
        }
    }

    private static Candidate candidate(int i, int chunkBytes, int regions, Random random) {
        int data = 1 + random.nextInt(9);
        List<Integer> places = new ArrayList<>();
        for (int chunk = 0; chunk < data + 1 + random.nextInt(3); chunk++) {
            places.add(random.nextInt(regions));
        }
        Collections.shuffle(places, random);
        return new Candidate(
                new BlockKey(i, i),
                random.nextDouble() * 100,
                new ChunkLayout(chunkBytes, data, places));
    }

    /** Blocks have all sizes; then nothing is exact, but nothing may be too large either. */
    @Test
    void chunksOfAllSizesNeverTakeMoreThanThereIs() {
        Random random = new Random(SEED);
        RegionLatencies latencies = latencies(FRANKFURT);
        for (int round = 0; round < 40; round++) {
            List<Candidate> candidates = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                candidates.add(candidate(i, 64 + random.nextInt(1 << 20), 6, random));
            }
            long capacity = random.nextInt(20 << 20);
            double least = 0;
            for (CachePlanner planner : PLANNERS) {
                CachePlan plan = planner.plan(candidates, latencies, CACHE_MS, capacity);
                assertThat(plan.bytes())
                        .isEqualTo(bytes(plan, candidates))
                        .isLessThanOrEqualTo(capacity);
                double value = value(plan, candidates, latencies);
                assertThat(value).isGreaterThanOrEqualTo(least * 0.9);
                least = Math.max(least, value);
            }
        }
    }

    @Test
    void nothingToChooseFromOrNoRoomIsAnEmptyPlan() {
        for (CachePlanner planner : PLANNERS) {
            assertThat(planner.plan(List.of(), latencies(1), CACHE_MS, 1_000).chunks()).isEmpty();
            List<Candidate> one = List.of(new Candidate(new BlockKey(1, 1), 5, twoInEach(100)));
            assertThat(planner.plan(one, latencies(FRANKFURT), CACHE_MS, 99).chunks()).isEmpty();
            assertThat(planner.plan(one, latencies(FRANKFURT), CACHE_MS, 0).chunks()).isEmpty();
        }
    }

    @Test
    void aMillionBlocks() {
        Random random = new Random(SEED);
        List<Candidate> candidates = new ArrayList<>();
        for (int i = 0; i < 1_000_000; i++) {
            candidates.add(new Candidate(new BlockKey(i, i), 1e6 / (i + 1), twoInEach(466_048)));
        }
        Collections.shuffle(candidates, random);
        long capacity = 64L << 30;
        CachePlan plan =
                new HullPlanner().plan(candidates, latencies(FRANKFURT), CACHE_MS, capacity);
        assertThat(plan.bytes()).isEqualTo(bytes(plan, candidates)).isLessThan(capacity + 1);
        assertThat(capacity - plan.bytes()).isLessThan(466_048);
    }
}
