package org.globalfs.datastore.client;

import java.io.InterruptedIOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * An answer of a cache that is still to come, and the lane on which it does. The lane is given back
 * by the one who waits for it, or if nobody does, by who closes this. Thread-safe.
 */
final class LateAnswer implements AutoCloseable {
    private final CacheReader reader;
    private final Lane lane;
    private final CacheRead read;
    private final AtomicBoolean taken = new AtomicBoolean();

    LateAnswer(CacheReader reader, Lane lane, CacheRead read) {
        this.reader = reader;
        this.lane = lane;
        this.read = read;
    }

    /** Nothing: somebody else has waited for it, or it is closed. */
    Map<Integer, byte[]> await(long deadlineNs) throws InterruptedIOException {
        if (!taken.compareAndSet(false, true)) {
            return Map.of();
        }
        try {
            return reader.awaitLate(read, lane, deadlineNs);
        } finally {
            reader.release(read, lane);
        }
    }

    @Override
    public void close() {
        if (taken.compareAndSet(false, true)) {
            reader.release(read, lane);
        }
    }
}
