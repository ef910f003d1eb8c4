package org.globalfs.datastore.s3;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * When to warn of what would else be said at every request, while a bucket is away. Thread-safe.
 */
final class RareWarning {
    private static final long EVERY_NS = TimeUnit.SECONDS.toNanos(10);

    private final AtomicLong lastNs = new AtomicLong(System.nanoTime() - EVERY_NS);

    /** Whether it is time to; then not again for ten seconds. */
    boolean isDue() {
        long now = System.nanoTime();
        long last = lastNs.get();
        return now - last >= EVERY_NS && lastNs.compareAndSet(last, now);
    }
}
