package org.globalfs.client.io;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntConsumer;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.Invariant;

/**
 * Bounds the bytes that are written and not committed: whoever wants more waits until others are
 * through. Files of one partition take at most twice what they leave free, two thirds of all when
 * they are alone: one whose region is silent gives nothing back for long, and those of others go on
 * in the rest. Thread-safe.
 */
final class WriteBudget {

    private static final long CHECK_NS = 100_000_000;

    private final long limitBytes;
    private final IntConsumer pressureOn;
    private final Runnable pressureOnAll;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition released = lock.newCondition();

    /** By partition; without those that have taken nothing. */
    private final Map<Integer, Long> usedBytesOf = new HashMap<>();

    private long usedBytes;

    /**
     * One of them is called, without locks, again and again while somebody has to wait.
     *
     * @param pressureOn the partition whose files take all that they may, and others do not
     * @param pressureOnAll there is not so much left for anybody
     */
    WriteBudget(long limitBytes, IntConsumer pressureOn, Runnable pressureOnAll) {
        this.limitBytes = limitBytes;
        this.pressureOn = pressureOn;
        this.pressureOnAll = pressureOnAll;
    }

    /**
     * Takes so much for a file of a partition, waiting if necessary; false: not within the caller's
     * patience.
     */
    boolean take(int partition, long bytes, Patience patience) {
        lock.lock();
        try {
            while (!fits(partition, bytes)) {
                boolean noneLeft = freeAfter(bytes) < 0;
                lock.unlock();
                try {
                    if (noneLeft) {
                        pressureOnAll.run();
                    } else {
                        pressureOn.accept(partition);
                    }
                } finally {
                    lock.lock();
                }
                if (!fits(partition, bytes)) {
                    if (patience.over()) {
                        return false;
                    }
                    released.awaitNanos(CHECK_NS);
                }
            }
            count(partition, bytes);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }

    private boolean fits(int partition, long bytes) {
        if (usedBytes == 0) {
            return true;
        }
        long free = freeAfter(bytes);
        long used = usedBytesOf.getOrDefault(partition, 0L);
        return free >= 0 && (used == 0 || used + bytes <= 2 * free);
    }

    private long freeAfter(long bytes) {
        return limitBytes - usedBytes - bytes;
    }

    private void count(int partition, long bytes) {
        usedBytes += bytes;
        usedBytesOf.merge(partition, bytes, (before, by) -> before + by == 0 ? null : before + by);
    }

    /** Gives back what was taken for that partition, wherever the file is now. */
    void release(int partition, long bytes) {
        lock.lock();
        try {
            count(partition, -bytes);
            Invariant.check(
                    usedBytes >= 0 && usedBytesOf.getOrDefault(partition, 0L) >= 0,
                    "more write budget released than taken");
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
