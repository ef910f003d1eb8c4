package org.globalfs.datastore.node;

import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.Shutdown;

/**
 * Keeps work that is not urgent below a rate. Thread-safe; those who share one share its rate, and
 * it is kept over any time that is long against one piece of the work.
 */
final class Pace {
    private final long bytesPerSecond;
    private final Shutdown shutdown;

    /** When all that was spent so far has had its time. */
    private long freeNs = System.nanoTime();

    /**
     * @param bytesPerSecond more than 0
     */
    Pace(long bytesPerSecond, Shutdown shutdown) {
        this.bytesPerSecond = bytesPerSecond;
        this.shutdown = shutdown;
    }

    /** Returns when the next may begin after so many bytes; at once when there is no next. */
    void spend(int bytes) {
        long waitNs = reserve(System.nanoTime(), bytes);
        if (waitNs > 0) {
            var _ = shutdown.await(waitNs, TimeUnit.NANOSECONDS);
        }
    }

    /** How long who spends this has to wait. */
    synchronized long reserve(long nowNs, int bytes) {
        double costNs = (double) bytes * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
        freeNs = Math.max(nowNs, freeNs) + (long) costNs;
        return freeNs - nowNs;
    }
}
