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
    /**
     * Writes files of many sizes, each with fsync, and notes each acknowledged one, with its
     * checksum, in a file outside the file system; runs until it fails or is killed.
     */
    private static final String WRITER =
            """
            import hashlib, os, random, sys
            folder, journal, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
            random.seed(seed)
            out = os.open(journal, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
            for i in range(100000):
                name = '%s/f%d-%05d' % (folder, seed, i)
                body = random.randbytes(random.choice([0, 1, 100, 4096, 16384, 16385, 70000, 1 << 20, 5 << 20]))
                fd = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
                view = memoryview(body)
                while view:
                    view = view[os.write(fd, view):]
                os.fsync(fd)
                os.write(out, ('%s %s\\n' % (hashlib.sha256(body).hexdigest(), os.path.basename(name))).encode())
                os.close(fd)
            """;

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
        Path script = Files.writeString(scratch.resolve("writer.py"), WRITER);
        Path folder = cluster.mount("us-west").resolve("crash");
        Shell.bash(Duration.ofSeconds(30), scratch, "mkdir '" + folder + "'").orFail();
        for (int round = 1; round <= 2; round++) {
            killDuringWrites(script, folder, round);
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

    private void killDuringWrites(Path script, Path folder, int round) throws IOException {
        Path journal = scratch.resolve("journal." + round);
        List<CompletableFuture<Shell.Outcome>> writers =
                List.of(2 * round, 2 * round + 1).stream()
                        .map(seed ->
                                CompletableFuture.supplyAsync(() ->
                                        Shell.run(
                                                Duration.ofMinutes(3),
                                                scratch,
                                                List.of(
                                                        "python3",
                                                        script.toString(),
                                                        folder.toString(),
                                                        journal.toString(),
                                                        "" + seed))))
                        .toList();
        LocalCluster.await(
                Duration.ofMinutes(2),
                () -> lines(journal) >= 60,
                () -> "too few files were written");
        cluster.killEverything();
        for (CompletableFuture<Shell.Outcome> writer : writers) {
            assertThat(writer.join().exitCode())
                    .as("a writer whose mount died must fail")
                    .isNotIn(0, 124);
        }
        cluster.up();
        String check =
                Shell.bash(
                                Duration.ofMinutes(3),
                                folder,
                                "sha256sum --quiet -c '" + journal + "' && echo whole")
                        .orFail();
        assertThat(check.strip()).isEqualTo("whole");
        String other =
                Shell.bash(
                                Duration.ofMinutes(3),
                                cluster.mount("eu-west").resolve("crash"),
                                "sha256sum --quiet -c '" + journal + "' && echo whole")
                        .orFail();
        assertThat(other.strip()).isEqualTo("whole");
    }

    private static int lines(Path journal) {
        try {
            return Files.exists(journal) ? Files.readAllLines(journal).size() : 0;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
