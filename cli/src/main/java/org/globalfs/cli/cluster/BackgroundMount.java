package org.globalfs.cli.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.GroupLimit;
import org.globalfs.protocol.config.ClientConfig;
import org.jspecify.annotations.Nullable;

/** Starts the process that serves a mount, and waits until it does. */
public final class BackgroundMount {
    private static final long START_LIMIT_NS = 60_000_000_000L;

    private BackgroundMount() {}

    /**
     * Returns once it is mounted.
     *
     * @param options how much memory it is given follows from them
     * @param log where the process logs to; null: a file of the mountpoint's name in {@code
     *     /var/log}, or of other users than root in {@code ~/.cache/globalfs}
     * @param run the run file that the process keeps as long as it serves; null: it keeps none
     * @throws Failure the process's own error, with its exit code
     */
    public static void start(
            Path mountpoint,
            ClientConfig.Mount options,
            @Nullable Path log,
            @Nullable RunFile run,
            List<String> arguments)
            throws Failure, IOException, InterruptedException {
        long heapBytes = JavaLauncher.heap(options, GroupLimit.memory());
        if (run != null) {
            refuseAnothers(run);
            start(run, mountpoint.toRealPath(), log, heapBytes, arguments);
            return;
        }
        Path folder = Files.createTempDirectory("globalfs-mount");
        RunFile own = new RunFile(folder.resolve("mount.pid"));
        try {
            start(own, mountpoint.toRealPath(), log, heapBytes, arguments);
        } finally {
            own.end();
            Files.deleteIfExists(folder);
        }
    }

    /** It would be overwritten, and then deleted when this mount fails or ends. */
    private static void refuseAnothers(RunFile run) throws Failure, IOException {
        Optional<ProcessHandle> process = run.process();
        if (process.isPresent()) {
            throw new Failure(
                    ExitCode.ALREADY_RUNNING,
                    run.path()
                            + " is the run file of process "
                            + process.get().pid()
                            + ": end that one first, or choose another file");
        }
    }

    private static void start(
            RunFile run, Path real, @Nullable Path log, long heapBytes, List<String> arguments)
            throws Failure, IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("mount", RunFile.OPTION, run.path().toString()));
        all.addAll(arguments);
        all.add(real.toString());
        Launched mount =
                Launched.start(
                        run,
                        log == null ? defaultLog(real) : log.toAbsolutePath(),
                        "mount of " + real,
                        JavaLauncher.Kind.MOUNT,
                        heapBytes,
                        all);
        long deadlineNs = System.nanoTime() + START_LIMIT_NS;
        while (!mount.isReady()) {
            mount.checkAlive(deadlineNs);
            Thread.sleep(10);
        }
    }

    private static Path defaultLog(Path mountpoint) {
        String name = "globalfs" + mountpoint.toString().replace('/', '-') + ".log";
        return System.getProperty("user.name", "").equals("root")
                ? Path.of("/var/log", name)
                : Path.of(System.getProperty("user.home", "/tmp"), ".cache", "globalfs", name);
    }
}
