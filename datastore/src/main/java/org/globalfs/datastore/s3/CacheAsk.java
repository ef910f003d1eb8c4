package org.globalfs.datastore.s3;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Map;
import org.globalfs.datastore.client.CacheAnswer;
import org.globalfs.datastore.client.CacheReader;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * What one read asks of its region's caches: first of all, whose answer may come later; and once
 * more where buckets say nothing. Not thread-safe: the reader's.
 */
final class CacheAsk implements AutoCloseable {
    /** Of an answer that comes among those of buckets: no number of a chunk. */
    static final int TAG = -1;

    private final @Nullable CacheReader caches;
    private final BlockRef ref;
    private final long wanted;
    private final int from;
    private final int to;
    private final long deadlineNs;
    private @Nullable CacheAnswer answer;
    private boolean again;

    /**
     * @param caches null: none is asked
     * @param wanted chunks that suffice: a bit by chunk index
     * @param from the first byte of each chunk that is read
     * @param to the end of those bytes
     * @param deadlineNs the read's
     */
    CacheAsk(
            @Nullable CacheReader caches,
            BlockRef ref,
            long wanted,
            int from,
            int to,
            long deadlineNs) {
        this.caches = caches;
        this.ref = ref;
        this.wanted = wanted;
        this.from = from;
        this.to = to;
        this.deadlineNs = deadlineNs;
    }

    /** Those bytes of the chunks that a cache has soon, by chunk index. Called once. */
    Map<Integer, byte[]> first() throws InterruptedIOException {
        if (caches == null) {
            return Map.of();
        }
        CacheAnswer came = caches.read(ref, wanted, from, to);
        answer = came;
        return came.columns();
    }

    /** What comes later of that is one of the outcomes, tagged {@link #TAG}. */
    void later(Transfers<Map<Integer, byte[]>> transfers) throws IOException {
        CacheAnswer late = answer;
        if (late != null && late.isLate()) {
            transfers.start(TAG, () -> late.later(deadlineNs));
        }
    }

    /** Whether a cache can still be asked once more. */
    boolean isLeft() {
        return caches != null && !again;
    }

    /**
     * Asks once more, if that is left, while buckets are waited for: it may have been the cache's
     * bad moment only. What it has is one of the outcomes, tagged {@link #TAG}.
     */
    void again(Transfers<Map<Integer, byte[]>> transfers) throws IOException {
        CacheReader asked = caches;
        if (asked != null && !again) {
            again = true;
            transfers.start(TAG, () -> asked.readPatiently(ref, wanted, from, to, deadlineNs));
        }
    }

    @Override
    public void close() {
        if (answer != null) {
            answer.close();
        }
    }
}
