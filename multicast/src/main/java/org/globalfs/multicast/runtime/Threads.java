package org.globalfs.multicast.runtime;

import java.util.concurrent.TimeUnit;

/** Waiting for threads. */
final class Threads {
    private Threads() {}

    /**
     * Waits for the end of a thread, interrupted or not, but not if it is the caller itself. False:
     * it goes on.
     */
    static boolean join(Thread thread, long timeoutMs) {
        if (Thread.currentThread().equals(thread)) {
            return true;
        }
        boolean interrupted = false;
        long startNs = System.nanoTime();
        while (thread.isAlive()) {
            long leftMs = timeoutMs - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            if (leftMs <= 0) {
                break;
            }
            try {
                thread.join(leftMs);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return !thread.isAlive();
    }
}
