package org.globalfs.protocol;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** What a process does where the system gives it no more threads. */
public final class Threads {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private Threads() {}

    /** For who met the limit. */
    public static String remedy() {
        return "Let this user's processes have more threads ('ulimit -u 65536' before it is"
                + " started, or LimitNPROC=65536 in its systemd unit), and its control group"
                + " (TasksMax=65536 in the unit; a container's limit of processes)";
    }

    /**
     * Begins the thread that ends timed waits of virtual threads, while there is one to be had:
     * what waits for a time when it cannot be begun waits for ever.
     *
     * @throws OutOfMemoryError it could not be begun
     */
    public static void prepare() {
        Thread first = Thread.ofVirtual().start(() -> LockSupport.parkNanos(1_000_000));
        try {
            if (!first.join(PATIENCE)) {
                throw new OutOfMemoryError("unable to create native thread that ends timed waits");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
