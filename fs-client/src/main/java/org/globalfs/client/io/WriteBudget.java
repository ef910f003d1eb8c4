package org.globalfs.client.io;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.Invariant;

/**
 * Bounds the bytes that are written and not committed: whoever wants more waits until others are
 * through.
 */
final class WriteBudget {

    private static final long CHECK_NS = 100_000_000;

    private final long limitBytes;
    private final Runnable pressure;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();
    private long usedBytes;

    /** {@code pressure} is called, without locks, when somebody has to wait. */
    WriteBudget(long limitBytes, Runnable pressure) {
        this.limitBytes = limitBytes;
        this.pressure = pressure;
    }

    /** Takes so much, waiting if necessary; false: not within the caller's patience. */
    boolean take(long bytes, Patience patience) {
        lock.lock();
        try {
            while (usedBytes > 0 && usedBytes + bytes > limitBytes) {
                lock.unlock();
                try {
                    pressure.run();
                } finally {
                    lock.lock();
                }
                if (usedBytes > 0 && usedBytes + bytes > limitBytes) {
                    if (patience.over()) {
                        return false;
                    }
                    released.awaitNanos(CHECK_NS);
                }
            }
            usedBytes += bytes;
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    void release(long bytes) {
        lock.lock();
        try {
            usedBytes -= bytes;
            Invariant.check(usedBytes >= 0, "more write budget released than taken");
            released.signalAll();
        } finally {
            lock.unlock();
        }
    }

    long usedBytes() {
        lock.lock();
        try {
            return usedBytes;
        } finally {
            lock.unlock();
        }
    }
}
