package org.globalfs.multicast.runtime;

/** Waiting for threads. */
final class Threads {
    private Threads() {}

    /**
     * Waits for the end of a thread, interrupted or not; returns at once if it is the caller
     * itself.
     */
    static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive() && !Thread.currentThread().equals(thread)) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
