package org.globalfs.cli.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.cli.Failure;
import org.jspecify.annotations.Nullable;

/** Starts the process that serves a mount, and waits until it does. */
public final class BackgroundMount {
    private static final long START_LIMIT_NS = 60_000_000_000L;

    private BackgroundMount() {}

    /**
     * Returns once it is mounted.
     *
     * @param log where the process logs to; null: a file of the mountpoint's name in {@code
     *     /var/log}, or of other users than root in {@code ~/.cache/globalfs}
     * @throws Failure the process's own error, with its exit code
     */
    public static void start(Path mountpoint, @Nullable Path log, List<String> arguments)
            throws Failure, IOException, InterruptedException {
        Path real = mountpoint.toRealPath();
        Path run = Files.createTempDirectory("globalfs-mount").resolve("mount.pid");
        try {
            List<String> all = new ArrayList<>(List.of("mount", RunFile.OPTION, run.toString()));
            all.addAll(arguments);
            all.add(real.toString());
            Launched mount =
                    Launched.start(
                            new RunFile(run),
                            log == null ? defaultLog(real) : log.toAbsolutePath(),
                            "mount of " + real,
                            JavaLauncher.Kind.MOUNT,
                            all);
            long deadlineNs = System.nanoTime() + START_LIMIT_NS;
            while (!mount.isReady()) {
                mount.checkAlive(deadlineNs);
                Thread.sleep(10);
            }
        } finally {
            new RunFile(run).end();
            Files.deleteIfExists(run.resolveSibling("mount.pid"));
            Files.deleteIfExists(run.getParent());
        }
    }

    private static Path defaultLog(Path mountpoint) {
        String name = "globalfs" + mountpoint.toString().replace('/', '-') + ".log";
        return System.getProperty("user.name", "").equals("root")
                ? Path.of("/var/log", name)
                : Path.of(System.getProperty("user.home", "/tmp"), ".cache", "globalfs", name);
    }
}
