package org.globalfs.multicast.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.globalfs.multicast.log.LogException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A log on a disk that fills up; the disk is a small tmpfs, so this needs the right to mount one.
 */
@Timeout(120)
class DiskFullTest {
    private static final Map<Integer, List<Integer>> ALONE = Map.of(1, List.of(1));

    @TempDir Path folder;

    private Path disk;

    @BeforeEach
    void mount() throws IOException, InterruptedException {
        disk = Files.createDirectory(folder.resolve("disk"));
        Assumptions.assumeTrue(
                run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk.toString()) == 0,
                "SKIPPED: mounting a tmpfs is not allowed here");
    }

    @AfterEach
    void unmount() throws IOException, InterruptedException {
        run("umount", "-l", disk.toString());
    }

    private static int run(String... command) throws IOException, InterruptedException {
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            return process.waitFor(20, TimeUnit.SECONDS) ? process.exitValue() : -1;
        } catch (IOException e) {
            System.out.println(e.getMessage());
            return -1;
        }
    }

    @Test
    void stopsWithAReasonAndLosesNothing() throws Exception {
        Cluster cluster = new Cluster(disk, ALONE);
        cluster.start(1);
        cluster.awaitCoordinator(1);
        byte[] value = "-".repeat(20_000).getBytes(UTF_8);
        await().atMost(Cluster.LONG)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> {
                    cluster.running.get(1).propose(1, value, new int[0]);
                    return !cluster.fatal.isEmpty();
                });
        assertThat(cluster.fatal.get(0))
                .isInstanceOfSatisfying(
                        LogException.class,
                        e -> assertThat(e.reason()).isEqualTo(LogException.Reason.IO))
                .hasMessageContaining("No space left on device")
                .hasMessageContaining("MiB free on that disk");
        assertThat(cluster.running.get(1).propose(1, value, new int[0])).isFalse();
        cluster.running.get(1).close();
        List<String> delivered = cluster.learner(1, 1).values();
        assertThat(delivered).isNotEmpty();

        Path filler = disk.resolve("filler");
        assertThatThrownBy(() -> Files.write(filler, new byte[8 << 20]))
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> cluster.start(1))
                .isInstanceOf(LogException.class)
                .hasMessageContaining("No space left");

        assertThat(run("mount", "-o", "remount,size=64m", disk.toString())).isZero();
        cluster.fatal.clear();
        cluster.learners.get(1).put(1, new RecordingLearner());
        cluster.start(1);
        await().atMost(Cluster.LONG).until(() -> cluster.learner(1, 1).count() >= delivered.size());
        assertThat(cluster.learner(1, 1).values().subList(0, delivered.size()))
                .isEqualTo(delivered);
        cluster.close();
    }
}
