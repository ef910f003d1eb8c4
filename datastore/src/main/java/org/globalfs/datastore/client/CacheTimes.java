package org.globalfs.datastore.client;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How long caches take, and whether they lag. One that is late once may have been busy; one that is
 * late again and again is not worth waiting for. Thread-safe.
 */
final class CacheTimes {
    private static final int MOST_LATE = 3;

    private final ReadTimes times = new ReadTimes();
    private final AtomicInteger lateInARow = new AtomicInteger();

    /** How long to wait for an answer before homes are asked. */
    long patienceNs(int bytes) {
        return times.hedgeAfterNs(bytes);
    }

    void answered(int bytes, long tookNs) {
        lateInARow.set(0);
        times.record(bytes, tookNs);
    }

    /** An answer was not waited for any longer; true: so were those before. */
    boolean late(int bytes, long waitedNs) {
        times.record(bytes, waitedNs);
        return lateInARow.incrementAndGet() >= MOST_LATE;
    }
}
