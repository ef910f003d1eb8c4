package org.globalfs.datastore.client;

import java.util.concurrent.TimeUnit;

/**
 * A running estimate of how long 95 of 100 reads take, for small and for large ranges: a read that
 * takes longer is hedged. Races lose samples, which does no harm.
 */
final class ReadTimes {
    private static final double QUANTILE = 0.95;
    private static final long MIN_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final double FAR_FACTOR = 2;
    private static final long MIN_FAR_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long MAX_NS = TimeUnit.MILLISECONDS.toNanos(400);
    private static final int SMALL_BYTES = 128 << 10;

    private volatile double small = TimeUnit.MILLISECONDS.toNanos(20);
    private volatile double large = TimeUnit.MILLISECONDS.toNanos(60);

    /** How long to wait before others that are as near are asked too. */
    long hedgeAfterNs(int bytes) {
        return Math.clamp((long) estimate(bytes), MIN_NS, MAX_NS);
    }

    /** How long to wait before others are asked that are farther away. */
    long hedgeFarAfterNs(int bytes) {
        return Math.clamp((long) (estimate(bytes) * FAR_FACTOR), MIN_FAR_NS, MAX_NS);
    }

    private double estimate(int bytes) {
        return bytes <= SMALL_BYTES ? small : large;
    }

    void record(int bytes, long ns) {
        if (bytes <= SMALL_BYTES) {
            small = moved(small, ns);
        } else {
            large = moved(large, ns);
        }
    }

    private static double moved(double estimate, long ns) {
        double step = estimate * 0.05;
        return ns > estimate ? estimate + step * QUANTILE : estimate - step * (1 - QUANTILE);
    }
}
