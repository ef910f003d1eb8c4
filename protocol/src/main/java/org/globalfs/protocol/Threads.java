package org.globalfs.protocol;

import java.util.concurrent.locks.LockSupport;

/** What a process does where the system gives it no more threads. */
public final class Threads {
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
     */
    public static void prepare() {
        Thread first = Thread.ofVirtual().start(() -> LockSupport.parkNanos(1_000_000));
        boolean interrupted = false;
        while (first.isAlive()) {
            try {
                first.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
