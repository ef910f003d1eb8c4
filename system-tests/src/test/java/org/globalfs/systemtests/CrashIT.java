package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** kill -9 of every process at once loses nothing whose fsync returned. */
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

    @Test
    void everyAcknowledgedFsyncSurvivesKillingEverything() throws IOException {
        Path scratch = Files.createTempDirectory("globalfs-journal-");
        try (LocalCluster cluster = LocalCluster.start("crash")) {
            Path script = Files.writeString(scratch.resolve("writer.py"), WRITER);
            Path folder = cluster.mount("us-west").resolve("crash");
            Shell.bash(Duration.ofSeconds(30), scratch, "mkdir '" + folder + "'").orFail();
            for (int round = 1; round <= 2; round++) {
                killDuringWrites(cluster, scratch, script, folder, round);
            }
            cluster.awaitEqualHashes(Duration.ofMinutes(2));
        } finally {
            Shell.bash(Duration.ofSeconds(30), Path.of("/"), "rm -rf '" + scratch + "'");
        }
    }

    private static void killDuringWrites(
            LocalCluster cluster, Path scratch, Path script, Path folder, int round)
            throws IOException {
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
