package org.globalfs.datastore.s3;

import java.util.concurrent.TimeUnit;

/**
 * How long one bucket takes to begin an answer, as a moving average of this process's reads. What
 * was not measured for a while is not known any more, so that a bucket that was avoided is tried
 * again. Thread-safe; races lose samples, which does no harm.
 */
final class RequestTime {
    /** Not measured lately. */
    static final long UNKNOWN = -1;

    private static final double WEIGHT_OF_NEW = 0.2;

    /** Of what it was: one request that was tried twice says little. */
    private static final int MOST_TIMES = 3;

    private static final long KNOWN_FOR_NS = TimeUnit.SECONDS.toNanos(60);

    private volatile long averageNs = UNKNOWN;
    private volatile long measuredNs;

    void record(long tookNs, long nowNs) {
        long before = ns(nowNs);
        averageNs =
                before == UNKNOWN
                        ? tookNs
                        : before
                                + (long)
                                        (WEIGHT_OF_NEW
                                                * (Math.min(tookNs, MOST_TIMES * before) - before));
        measuredNs = nowNs;
    }

    long ns(long nowNs) {
        return averageNs == UNKNOWN || nowNs - measuredNs > KNOWN_FOR_NS ? UNKNOWN : averageNs;
    }
}
