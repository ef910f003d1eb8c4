package org.globalfs.protocol;

import java.util.concurrent.TimeUnit;

/**
 * When to warn of what would else be said at every request: while a bucket is away, or a server has
 * no room. Thread-safe.
 */
public final class RareWarning {
    private static final long EVERY_NS = TimeUnit.SECONDS.toNanos(10);

    private boolean given;
    private long givenNs;

    /**
     * Whether it is time to; then not again for ten seconds.
     *
     * @param nowNs of {@link System#nanoTime}
     */
    public synchronized boolean isDue(long nowNs) {
        if (given && nowNs - givenNs < EVERY_NS) {
            return false;
        }
        given = true;
        givenNs = nowNs;
        return true;
    }
}
