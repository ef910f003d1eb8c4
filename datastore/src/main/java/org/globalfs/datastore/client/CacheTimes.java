package org.globalfs.datastore.client;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long caches take, and which of them lag. One that is late once may have been busy; one that
 * is late again and again is not worth waiting for, whatever others do. Thread-safe.
 */
final class CacheTimes {
    private static final int MOST_LATE = 3;

    private final ReadTimes times = new ReadTimes();

    /** Of each cache that did not answer the last time. */
    private final Map<String, Integer> lateInARow = new ConcurrentHashMap<>();

    /** How long to wait for an answer before homes are asked. */
    long patienceNs(int bytes) {
        return times.hedgeFarAfterNs(bytes);
    }

    void answered(String cache, int bytes, long tookNs) {
        lateInARow.remove(cache);
        times.record(bytes, tookNs);
    }

    /** An answer was not waited for any longer; true: so were this cache's before. */
    boolean late(String cache, int bytes, long waitedNs) {
        times.record(bytes, waitedNs);
        return lateInARow.merge(cache, 1, Integer::sum) >= MOST_LATE;
    }
}
