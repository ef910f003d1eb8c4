package org.globalfs.datastore.client;

import java.io.InterruptedIOException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a cache answers to one question: at once, or later. The asker's, of whom one thread may wait
 * for what comes later while another one goes on.
 */
public final class CacheAnswer implements AutoCloseable {
    static final CacheAnswer NOTHING = new CacheAnswer(Map.of(), null);

    private final Map<Integer, byte[]> columns;
    private final @Nullable LateAnswer late;

    CacheAnswer(Map<Integer, byte[]> columns, @Nullable LateAnswer late) {
        this.columns = columns;
        this.late = late;
    }

    /** The bytes of the chunks that came at once, by chunk index. */
    public Map<Integer, byte[]> columns() {
        return columns;
    }

    /** Whether something may come later. */
    public boolean isLate() {
        return late != null;
    }

    /**
     * Waits for what comes later, some seconds at most; nothing if that was waited for already, or
     * this is closed.
     *
     * @param deadlineNs nor longer than until then
     * @return as {@link #columns}
     * @throws InterruptedIOException the thread is interrupted
     */
    public Map<Integer, byte[]> later(long deadlineNs) throws InterruptedIOException {
        return late == null ? Map.of() : late.await(deadlineNs);
    }

    /** What nobody has begun to wait for is not waited for any more. */
    @Override
    public void close() {
        if (late != null) {
            late.close();
        }
    }
}
