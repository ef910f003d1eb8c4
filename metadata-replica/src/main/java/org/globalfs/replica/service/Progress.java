package org.globalfs.replica.service;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Wakes those who wait until a partition has come far enough. Costs one read when nobody waits. */
final class Progress {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final AtomicInteger waiting = new AtomicInteger();

    /**
     * Waits until the condition holds.
     *
     * @param reached must read volatile state that is written before {@link #moved} is called
     * @return false: the deadline (of System.nanoTime) passed first
     */
    boolean await(BooleanSupplier reached, long deadlineNs) throws InterruptedException {
        if (reached.getAsBoolean()) {
            return true;
        }
        waiting.incrementAndGet();
        try {
            return awaitChange(reached, deadlineNs);
        } finally {
            waiting.decrementAndGet();
        }
    }

    private boolean awaitChange(BooleanSupplier reached, long deadlineNs)
            throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long leftNs = deadlineNs - System.nanoTime();
            while (!reached.getAsBoolean()) {
                if (leftNs <= 0) {
                    return false;
                }
                leftNs = changed.awaitNanos(leftNs);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    void moved() {
        if (waiting.get() > 0) {
            lock.lock();
            try {
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }
}
