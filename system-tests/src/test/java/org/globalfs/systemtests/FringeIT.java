package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Operations that race where partitions meet, from the mounts of three regions, while replicas, the
 * rings' coordinators among them, are killed and come back: nothing is lost, doubled or left half
 * done. It looks at the whole tree, and so has a cluster of its own. Set globalfs.fringe.pairs for
 * a longer run, globalfs.fringe.seed to repeat one.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class FringeIT {
    private static final int PAIRS = Integer.getInteger("globalfs.fringe.pairs", 90);
    private static final long SEED =
            Long.getLong("globalfs.fringe.seed", System.nanoTime() & 0xFFFF);
    private static final Duration LIMIT = Duration.ofMinutes(3).plusMillis(500L * PAIRS);
    private static final long BETWEEN_KILLS_MS = 6_000;
    private static final long DEAD_MS = 2_000;

    private LocalCluster cluster;

    @BeforeAll
    void start() throws IOException {
        cluster = LocalCluster.start("fringe");
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
    }

    @Test
    void racesLeaveTheTreeWhole() throws Exception {
        System.out.println("fringe: " + PAIRS + " pairs, seed " + SEED);
        Path program = cluster.data().resolve("races.py");
        try (InputStream in = FringeIT.class.getResourceAsStream("/fringe/races.py")) {
            Files.write(program, Objects.requireNonNull(in).readAllBytes());
        }
        List<String> line =
                new ArrayList<>(
                        List.of(
                                "python3",
                                program.toString(),
                                String.valueOf(PAIRS),
                                String.valueOf(SEED)));
        LocalCluster.REGIONS.forEach(region -> line.add(cluster.mount(region).toString()));
        CompletableFuture<Shell.Outcome> races =
                Shell.meanwhile(() -> Shell.run(LIMIT, cluster.data(), line));
        int kills = killUntil(races);
        System.out.println(races.join().orFail());
        System.out.println("fringe: " + kills + " processes were killed");
        assertThat(kills).isPositive();
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
    }

    /** Ring 0's coordinator, a region's, any process, in turns. */
    private int killUntil(CompletableFuture<?> end) throws InterruptedException {
        Random random = new Random(SEED);
        int kills = 0;
        while (!ends(end, BETWEEN_KILLS_MS)) {
            String region = LocalCluster.REGIONS.get(random.nextInt(LocalCluster.REGIONS.size()));
            String victim =
                    switch (kills % 3) {
                        case 0 -> cluster.globalCoordinatorProcess();
                        case 1 -> cluster.coordinatorProcess(region);
                        default -> region + "-" + "abc".charAt(random.nextInt(3));
                    };
            System.out.println("fringe: kill -9 of " + victim);
            cluster.kill(victim);
            kills++;
            ends(end, DEAD_MS);
            cluster.restart(victim);
        }
        return kills;
    }

    private static boolean ends(CompletableFuture<?> end, long withinMs)
            throws InterruptedException {
        try {
            end.get(withinMs, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new AssertionError(e);
        }
    }
}
