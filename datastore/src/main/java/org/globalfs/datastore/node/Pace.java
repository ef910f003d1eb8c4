package org.globalfs.datastore.node;

import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.Shutdown;

/**
 * Keeps work that is not urgent below a rate. Thread-safe; those who share one share its rate, and
 * it is kept over any time that is long against one piece of the work.
 */
public final class Pace {
    private final long bytesPerSecond;
    private final Shutdown shutdown;

    /** When all that was spent so far has had its time. */
    private long freeNs = System.nanoTime();

    /**
     * @param bytesPerSecond more than 0
     * @param shutdown nobody waits once it begins
     */
    public Pace(long bytesPerSecond, Shutdown shutdown) {
        this.bytesPerSecond = bytesPerSecond;
        this.shutdown = shutdown;
    }

    /**
     * Spends so many bytes, when what was spent before has had its time.
     *
     * @return false: the work ends instead
     */
    public boolean spend(long bytes) {
        return !shutdown.await(delayNs(System.nanoTime(), bytes), TimeUnit.NANOSECONDS);
    }

    /** How long who spends this has to wait. */
    synchronized long delayNs(long nowNs, long bytes) {
        long delayNs = Math.max(0, freeNs - nowNs);
        double costNs = (double) bytes * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
        freeNs = nowNs + delayNs + (long) costNs;
        return delayNs;
    }
}
