package org.globalfs.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A file names one process, as long as that runs. */
class RunFileTest {
    @TempDir Path folder;

    @Test
    void aSecondProcessDoesNotTakeTheFileOfOneThatRuns() throws Exception {
        RunFile run = new RunFile(folder.resolve("server.pid"));
        Process first =
                new ProcessBuilder("sh", "-c", "read _", RunFile.OPTION, run.path().toString())
                        .start();
        long self = ProcessHandle.current().pid();
        try {
            run.begin(first.pid());
            run.begin(first.pid());
            run.ready();
            assertThatThrownBy(() -> run.begin(self))
                    .isInstanceOfSatisfying(
                            Failure.class,
                            e -> assertThat(e.code()).isEqualTo(ExitCode.ALREADY_RUNNING))
                    .hasMessageContaining("process " + first.pid());
            assertThat(run.isReady()).isTrue();
            assertThat(run.process()).map(ProcessHandle::pid).hasValue(first.pid());
        } finally {
            first.destroy();
            first.waitFor();
        }
        run.begin(self);
        assertThat(run.isReady()).isFalse();
    }

    /** A launcher tells the process that it started, which tells itself meanwhile. */
    @Test
    void aProcessAndItsLauncherMayBothTellOfIt() throws Exception {
        RunFile run = new RunFile(folder.resolve("server.pid"));
        long self = ProcessHandle.current().pid();
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (int round = 0; round < 50; round++) {
                CyclicBarrier both = new CyclicBarrier(2);
                Callable<Boolean> begin =
                        () -> {
                            both.await();
                            run.begin(self);
                            return true;
                        };
                for (Future<Boolean> done : threads.invokeAll(List.of(begin, begin))) {
                    assertThat(done.get()).isTrue();
                }
            }
        }
        assertThat(run.path()).hasContent(self + "\n");
        assertThat(folder).isDirectoryNotContaining(file -> !file.equals(run.path()));
    }

    @Test
    void onlyOneLauncherStartsTheProcessOfAFile() throws Exception {
        ClusterFolder cluster = ClusterFolder.openOrCreate(folder.resolve("cluster"), 0);
        cluster.releasePorts();
        RunFile run = cluster.run("us-west-a");
        FileChannel first = run.reserve();
        assertRefused(run::reserve);
        first.close();
        run.reserve().close();
        Process other =
                new ProcessBuilder("sh", "-c", "read _", RunFile.OPTION, run.path().toString())
                        .start();
        try {
            run.begin(other.pid());
            run.ready();
            assertRefused(() ->
                    Launched.start(
                            cluster,
                            "us-west-a",
                            JavaLauncher.Kind.SERVER,
                            64 << 20,
                            List.of("version")));
            run.endOf(ProcessHandle.current().pid());
            assertThat(run.process()).map(ProcessHandle::pid).hasValue(other.pid());
            assertThat(run.isReady()).isTrue();
        } finally {
            other.destroy();
            other.waitFor();
        }
        run.endOf(other.pid());
        assertThat(run.path()).doesNotExist();
    }

    private static void assertRefused(ThrowingCallable start) {
        assertThatThrownBy(start)
                .isInstanceOfSatisfying(
                        Failure.class,
                        e -> assertThat(e.code()).isEqualTo(ExitCode.ALREADY_RUNNING));
    }

    /** Between the end of one and the beginning of the next the file names nobody. */
    @Test
    void theEndOfAProcessTakesNothingFromAFileThatNamesNone() throws Exception {
        RunFile run = new RunFile(folder.resolve("server.pid"));
        run.ready();
        run.endOf(ProcessHandle.current().pid());
        assertThat(run.isReady()).isTrue();
    }

    @Test
    void aFileThatAPowerCutEmptiedNamesNoProcess() throws Exception {
        RunFile run = new RunFile(folder.resolve("server.pid"));
        for (String left : List.of("", "\0\0\0\0\0\0")) {
            Files.writeString(run.path(), left);
            assertThat(run.process()).isEmpty();
            run.begin(ProcessHandle.current().pid());
            assertThat(run.path()).hasContent(ProcessHandle.current().pid() + "\n");
        }
    }
}
