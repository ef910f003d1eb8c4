package org.globalfs.datastore.cache;

import java.util.concurrent.atomic.LongAdder;

/** What a cache did since it started. Thread-safe. */
final class CacheCounters {
    final LongAdder requests = new LongAdder();
    final LongAdder partHits = new LongAdder();
    final LongAdder wholeHits = new LongAdder();
    final LongAdder servedBytes = new LongAdder();
    final LongAdder fetchedBytes = new LongAdder();

    /** Requests and chunks that there was no time for. */
    final LongAdder missed = new LongAdder();

    final LongAdder damaged = new LongAdder();
}
