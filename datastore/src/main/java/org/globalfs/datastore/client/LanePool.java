package org.globalfs.datastore.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lanes of a client: the one used last is used next, those not needed for a while are closed.
 */
final class LanePool implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LanePool.class);
    private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(60);

    private final String cluster;
    private final boolean background;
    private final Semaphore permits;
    private final Deque<Lane> idle = new ConcurrentLinkedDeque<>();
    private volatile boolean closed;

    /**
     * @param background nobody waits for what is asked for
     */
    LanePool(String cluster, int lanes, boolean background) {
        this.cluster = cluster;
        this.background = background;
        permits = new Semaphore(lanes);
    }

    /** Waits for a lane until the deadline. */
    Lane take(long deadlineNs) throws IOException {
        try {
            if (!permits.tryAcquire()
                    && !permits.tryAcquire(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw new BlockStoreException(
                        BlockStoreException.Reason.UNREACHABLE,
                        "too many block operations at once: none ended before the deadline");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        boolean taken = false;
        try {
            if (closed) {
                throw new BlockStoreException(
                        BlockStoreException.Reason.CLOSED, "block store is closed");
            }
            Lane lane = idle.pollFirst();
            if (lane == null) {
                lane = new Lane(cluster, background);
            }
            taken = true;
            return lane;
        } finally {
            if (!taken) {
                permits.release();
            }
        }
    }

    void give(Lane lane) throws IOException {
        lane.endOperation();
        idle.addFirst(lane);
        permits.release();
        if (closed) {
            closeIdle();
        } else {
            closeUnused(System.nanoTime());
        }
    }

    /** Closes lanes that were not needed for a while; also called when none is given back. */
    void closeUnused(long nowNs) throws IOException {
        Lane oldest = idle.peekLast();
        while (oldest != null && nowNs - oldest.lastUsedNs() > IDLE_NS) {
            if (idle.removeLastOccurrence(oldest)) {
                oldest.close();
            }
            oldest = idle.peekLast();
        }
    }

    /** As {@link #closeUnused(long)}, for who can do nothing about a failure. */
    void closeUnused() {
        try {
            closeUnused(System.nanoTime());
        } catch (IOException e) {
            LOG.warn("closing connections that are not used: {}", e.toString());
        }
    }

    /** Lanes that nobody uses now. */
    int unused() {
        return idle.size();
    }

    private void closeIdle() throws IOException {
        Lane lane;
        while ((lane = idle.pollFirst()) != null) {
            lane.close();
        }
    }

    /** Lanes in use are closed as they come back. */
    @Override
    public void close() throws IOException {
        closed = true;
        closeIdle();
    }
}
