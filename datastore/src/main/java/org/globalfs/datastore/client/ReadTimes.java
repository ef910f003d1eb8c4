package org.globalfs.datastore.client;

import java.util.concurrent.TimeUnit;

/**
 * A running estimate of how long nearly every read takes, for small and for large ranges: a read
 * that takes longer is hedged. Races lose samples, which does no harm.
 */
final class ReadTimes {
    private static final double QUANTILE = 0.97;
    private static final double FACTOR = 2;
    private static final long MIN_NS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final long MAX_NS = TimeUnit.MILLISECONDS.toNanos(400);
    private static final int SMALL_BYTES = 128 << 10;

    private volatile double small = TimeUnit.MILLISECONDS.toNanos(20);
    private volatile double large = TimeUnit.MILLISECONDS.toNanos(60);

    /** How long to wait before asking others too. */
    long hedgeAfterNs(int bytes) {
        double estimate = bytes <= SMALL_BYTES ? small : large;
        return Math.clamp((long) (estimate * FACTOR), MIN_NS, MAX_NS);
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
