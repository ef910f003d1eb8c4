package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.globalfs.client.control.ControlClient;
import org.globalfs.client.fuse.MountTable;

/**
 * Work that takes as long as it takes, through a mount whose process is there to do it. Who asks a
 * process that is stopped, or reads a file of its mount, waits for ever: so the process is asked
 * now and then for what it answers from its memory, and when it does not, the work is given up.
 */
final class ThroughMount {
    /** A process that answers at all does so in it. */
    static final Duration ANSWER = Duration.ofSeconds(10);

    private static final Duration PAUSE = Duration.ofSeconds(3);

    /** The mount may have ended just so, and the work with it. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    /** Asks whether there is still somebody. */
    interface Sign {
        /**
         * Returns when there is.
         *
         * @throws IOException who is silent, and the mend
         */
        void ofLife() throws IOException;
    }

    private ThroughMount() {}

    /** Does the work, which has to do with this path. */
    static <T> T run(Path path, Callable<T> work) throws Exception {
        return run(work, () -> ask(path), PAUSE, GRACE);
    }

    static <T> T run(Callable<T> work, Sign sign, Duration pause, Duration grace) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        // A thread that waits in a mount cannot be woken, so nobody waits for its end.
        Thread.ofPlatform().name("through-mount").daemon().start(task);
        try {
            while (true) {
                try {
                    return task.get(pause.toNanos(), TimeUnit.NANOSECONDS);
                } catch (TimeoutException silence) {
                    try {
                        sign.ofLife();
                    } catch (IOException dead) {
                        return last(task, dead, grace);
                    }
                }
            }
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception thrown) {
                throw thrown;
            }
            throw e;
        }
    }

    private static <T> T last(FutureTask<T> task, IOException dead, Duration grace)
            throws ExecutionException, InterruptedException, IOException {
        try {
            return task.get(grace.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException silence) {
            throw dead;
        }
    }

    private static void ask(Path path) throws IOException {
        MountTable.Mount named = MountTable.named(path);
        MountTable.Mount mount = named == null ? MountTable.over(path) : named;
        if (mount == null || !MountTable.isOurs(mount)) {
            return; // by a symbolic link into a mount, which is not to be followed here
        }
        try (ControlClient client =
                ControlClient.ask(Path.of(mount.mountpoint()), "stats", ANSWER)) {
            client.line();
        }
    }
}
