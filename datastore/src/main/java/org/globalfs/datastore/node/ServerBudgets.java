package org.globalfs.datastore.node;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory outside of the heap for what is on its way, of all storage nodes and caches of the
 * process, whose memory it is. Each that serves has an equal part: what a disk that hangs holds for
 * ever is one server's, and the others go on.
 */
final class ServerBudgets {
    private static final long LEAST_BYTES = 64L << 20;
    private static final long MOST_BYTES = 256L << 20;
    private static final int PART = 4;

    static final ServerBudgets OF_PROCESS = new ServerBudgets(ofProcess());

    private final long totalBytes;
    private final AtomicInteger servers = new AtomicInteger();

    /**
     * @param totalBytes of whole requests; a quarter of it comes on top, for the buffers in which
     *     requests arrive
     */
    ServerBudgets(long totalBytes) {
        this.totalBytes = totalBytes;
    }

    /** The JVM's memory outside of the heap is as large as the heap may become, unless set. */
    private static long ofProcess() {
        return Math.clamp(Runtime.getRuntime().maxMemory() / PART, LEAST_BYTES, MOST_BYTES);
    }

    /** A server's part; it counts from when it {@link #begin begins} until it {@link #end ends}. */
    ConnectionHandler.Budgets ofServer() {
        return new ConnectionHandler.Budgets(
                new TransferBudget(() -> part(totalBytes / PART)),
                new TransferBudget(() -> part(totalBytes)),
                this);
    }

    private long part(long bytes) {
        return bytes / Math.max(1, servers.get());
    }

    void begin() {
        servers.incrementAndGet();
    }

    void end() {
        servers.decrementAndGet();
    }
}
