package org.globalfs.datastore.s3;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Which buckets say nothing to those who get chunks of them. One of these waits for such a bucket,
 * and so finds out whether it is back; the others do without. Thread-safe.
 */
final class SilentBuckets {
    /** A bucket that has begun no answer for so long. */
    static final long SILENT_NS = TimeUnit.SECONDS.toNanos(2);

    /** One that was never read: connecting, and loading the client, take their time. */
    private static final long COLD_NS = TimeUnit.SECONDS.toNanos(6);

    private final Set<Bucket> silent = ConcurrentHashMap.newKeySet();

    /** Who waits for a silent bucket. */
    private final Map<Bucket, Object> waiting = new ConcurrentHashMap<>();

    /** Whether somebody may ask a bucket now. */
    boolean mayAsk(Bucket bucket, Object asker) {
        return !silent.contains(bucket) || isTheOne(bucket, asker);
    }

    /** Whether the bucket has been silent since it was asked, and somebody else waits for it. */
    boolean isInVain(Bucket bucket, Object asker, long sinceNs) {
        long patienceNs = bucket.wasRead() ? SILENT_NS : COLD_NS;
        if (bucket.hasAnsweredSince(sinceNs) || System.nanoTime() - sinceNs < patienceNs) {
            return false;
        }
        silent.add(bucket);
        return !isTheOne(bucket, asker);
    }

    private boolean isTheOne(Bucket bucket, Object asker) {
        return waiting.computeIfAbsent(bucket, b -> asker).equals(asker);
    }

    /** Whoever has asked it since then does not wait for it any more. */
    void done(Bucket bucket, Object asker, long sinceNs) {
        if (bucket.hasAnsweredSince(sinceNs)) {
            silent.remove(bucket);
        }
        waiting.remove(bucket, asker);
    }
}
