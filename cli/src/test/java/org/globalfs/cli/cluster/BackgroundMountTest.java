package org.globalfs.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.GroupLimit;
import org.globalfs.protocol.config.ClientConfig;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A mount in the background has the run file that it was given. */
class BackgroundMountTest {
    @TempDir Path folder;

    @Test
    void theRunFileNamesTheProcessAsLongAsItIsThere() throws Exception {
        RunFile run = new RunFile(folder.resolve("mine.pid"));
        CompletableFuture<Void> started = new CompletableFuture<>();
        Thread.ofPlatform()
                .start(() -> {
                    try {
                        BackgroundMount.start(
                                folder,
                                ClientConfig.DEFAULT_MOUNT,
                                folder.resolve("log"),
                                run,
                                noConfig());
                        started.complete(null);
                    } catch (Exception e) {
                        started.completeExceptionally(e);
                    }
                });
        await().atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(1))
                .until(() -> Files.exists(run.path()) || started.isDone());
        assertThat(started).isNotDone();
        assertThatThrownBy(started::get)
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("none.yaml: no such file");
        assertThat(run.path()).doesNotExist();
    }

    @Test
    void aLogThatCannotBeWrittenIsNamedAndNotAProgram() throws Exception {
        Path log = Files.createDirectory(folder.resolve("log"));
        RunFile run = new RunFile(folder.resolve("mine.pid"));
        assertThatThrownBy(() ->
                        BackgroundMount.start(
                                folder, ClientConfig.DEFAULT_MOUNT, log, run, noConfig()))
                .hasMessage(log + ": Is a directory");
        assertThat(run.path()).doesNotExist();
    }

    @Test
    void theRunFileOfAProcessThatLivesIsLeftAlone() throws Exception {
        RunFile run = new RunFile(folder.resolve("mine.pid"));
        Process other =
                new ProcessBuilder(
                                "sh",
                                "-c",
                                "read line; :",
                                "mount",
                                RunFile.OPTION,
                                run.path().toString())
                        .start();
        try {
            run.begin(other.pid());
            assertThatThrownBy(() ->
                            BackgroundMount.start(
                                    folder,
                                    ClientConfig.DEFAULT_MOUNT,
                                    folder.resolve("log"),
                                    run,
                                    noConfig()))
                    .isInstanceOfSatisfying(
                            Failure.class,
                            f -> assertThat(f.code()).isEqualTo(ExitCode.ALREADY_RUNNING))
                    .hasMessageContaining("is the run file of process " + other.pid());
            assertThat(run.path()).exists();
        } finally {
            other.destroyForcibly().waitFor();
        }
    }

    @Test
    void aLargeCacheHasAsMuchMemoryAgainBesideIt() throws Exception {
        GroupLimit free = new GroupLimit(Long.MAX_VALUE, Path.of(""));
        assertThat(JavaLauncher.heap(ClientConfig.DEFAULT_MOUNT, free)).isEqualTo(1L << 30);
        Path large = folder.resolve("large.yaml");
        Files.writeString(large, "cluster: c\nzookeeper: z:1\nregion: r\nmount:\n  cache: 3GiB\n");
        assertThat(JavaLauncher.heap(ClientConfig.read(large).mount(), free)).isEqualTo(6L << 30);
        GroupLimit small = new GroupLimit(512 << 20, Path.of("/group/memory.max"));
        assertThat(JavaLauncher.heap(ClientConfig.read(large).mount(), small)).isEqualTo(352 << 20);
    }

    @Test
    void anErrorIsFoundAtTheEndOfALogThatHasGrownForYears() throws Exception {
        Path log = folder.resolve("log");
        try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "rw")) {
            file.setLength(3L << 30);
        }
        assertThatThrownBy(() ->
                        BackgroundMount.start(
                                folder, ClientConfig.DEFAULT_MOUNT, log, null, noConfig()))
                .isInstanceOf(Failure.class)
                .hasMessageContaining("none.yaml: no such file");
    }

    private List<String> noConfig() {
        return List.of("--config", folder.resolve("none.yaml").toString());
    }
}
