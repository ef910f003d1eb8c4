package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * kill -9 of every process at once, or the loss of a replica's disk, loses nothing whose fsync
 * returned.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class CrashIT {
    private LocalCluster cluster;
    private Path scratch;

    @BeforeAll
    void start() throws IOException {
        scratch = Files.createTempDirectory("globalfs-journal-");
        cluster = LocalCluster.start("crash");
    }

    @AfterAll
    void stop() throws IOException {
        Shell.bash(Duration.ofSeconds(30), Path.of("/"), "rm -rf '" + scratch + "'");
        if (cluster != null) {
            cluster.close();
        }
    }

    @Test
    @Order(1)
    void everyAcknowledgedFsyncSurvivesKillingEverything() throws IOException {
        FsyncWriter writer = new FsyncWriter(scratch);
        Path folder = cluster.mount("us-west").resolve("crash");
        Shell.bash(Duration.ofSeconds(30), scratch, "mkdir '" + folder + "'").orFail();
        for (int round = 1; round <= 2; round++) {
            killDuringWrites(writer, folder, round);
        }
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
    }

    /** A replica comes back without anything that it had; then one of the others is lost. */
    @Test
    @Order(2)
    void aReplicaWithAnEmptyDiskTakesPartAgain() {
        Path work = cluster.mount("us-west");
        Shell.bash(Duration.ofMinutes(1), work, "mkdir disk && echo before > disk/before").orFail();
        String replaced = "us-west-b";
        cluster.kill(replaced);
        Shell.bash(Duration.ofSeconds(30), cluster.data(), "rm -r data/" + replaced + "/replica-*")
                .orFail();
        Shell.bash(Duration.ofMinutes(1), work, "echo meanwhile > disk/meanwhile").orFail();
        cluster.restart(replaced);
        LocalCluster.await(
                Duration.ofMinutes(1),
                () -> {
                    Map<?, ?> status = cluster.status();
                    return cluster.ringValues(status, 0, "rejoining").equals(nine(false))
                            && cluster.ringValues(status, 1, "rejoining").size() == 3
                            && !cluster.ringValues(status, 1, "rejoining").contains(true);
                },
                () -> replaced + " does not take part again: " + cluster.status());
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
        cluster.kill("us-west-a");
        Shell.bash(
                        Duration.ofMinutes(1),
                        work,
                        "cat disk/before disk/meanwhile && echo after > disk/after && sync disk/after")
                .orFail();
        cluster.restart("us-west-a");
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
    }

    private static List<Object> nine(Object value) {
        return Collections.nCopies(9, value);
    }

    private void killDuringWrites(FsyncWriter writer, Path folder, int round) {
        Path journal = scratch.resolve("journal." + round);
        List<CompletableFuture<Shell.Outcome>> writers =
                List.of(2 * round, 2 * round + 1).stream()
                        .map(seed ->
                                Shell.meanwhile(() ->
                                        writer.run(Duration.ofMinutes(3), folder, journal, seed)))
                        .toList();
        LocalCluster.await(
                Duration.ofMinutes(2),
                () -> FsyncWriter.acknowledged(journal) >= 60,
                () -> "too few files were written");
        cluster.killEverything();
        for (CompletableFuture<Shell.Outcome> each : writers) {
            assertThat(each.join().exitCode())
                    .as("a writer whose mount died must fail")
                    .isNotIn(0, 124);
        }
        cluster.up();
        FsyncWriter.check(folder, journal);
        FsyncWriter.check(cluster.mount("eu-west").resolve("crash"), journal);
    }
}
