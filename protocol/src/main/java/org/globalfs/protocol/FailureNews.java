package org.globalfs.protocol;

import java.util.concurrent.TimeUnit;

/**
 * Whether a failure is worth a line in the log: each request fails for the same reason as long as a
 * disk has failed, or the system gives no more threads. Thread-safe.
 */
public final class FailureNews {
    private static final long AGAIN_NS = TimeUnit.MINUTES.toNanos(10);

    private String told = "";
    private long toldNs;

    /**
     * True: its reason is not what was told last, or was told long ago.
     *
     * @param nowNs of {@link System#nanoTime}
     */
    public synchronized boolean of(Throwable failure, long nowNs) {
        Throwable reason = failure;
        while (reason.getCause() != null) {
            reason = reason.getCause();
        }
        String text = reason.toString();
        if (text.equals(told) && nowNs - toldNs < AGAIN_NS) {
            return false;
        }
        told = text;
        toldNs = nowNs;
        return true;
    }
}
