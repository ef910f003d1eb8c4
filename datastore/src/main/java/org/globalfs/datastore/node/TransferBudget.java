package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * Bounds the memory outside of the heap for what is on its way from and to clients: who wants more
 * than there is waits, and its client with it, as nothing more is read from the connection.
 *
 * <p>What is in the background waits while anybody else does, and has half at most. Among the
 * others, who came first goes first, so that much is not kept waiting by many who want little.
 * Nobody who holds a share waits for another one of the same budget.
 */
final class TransferBudget {
    private final LongSupplier totalBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Waiter> first = new ArrayDeque<>();
    private final Deque<Waiter> behind = new ArrayDeque<>();
    private long usedBytes;
    private long usedBehindBytes;

    private static final class Waiter {
        private final Share share;
        private final Condition granted;
        private boolean served;

        Waiter(Share share, Condition granted) {
            this.share = share;
            this.granted = granted;
        }
    }

    TransferBudget(long totalBytes) {
        this(() -> totalBytes);
    }

    /**
     * @param totalBytes may change: what is held stays held, and whoever is alone has enough
     */
    TransferBudget(LongSupplier totalBytes) {
        this.totalBytes = totalBytes;
    }

    /** Bytes that somebody may hold, until it is closed. */
    final class Share implements Replies.Room {
        private final long bytes;
        private final boolean background;

        private Share(long bytes, boolean background) {
            this.bytes = bytes;
            this.background = background;
        }

        @Override
        public void close() {
            lock.lock();
            try {
                usedBytes -= bytes;
                usedBehindBytes -= background ? bytes : 0;
                serve();
            } finally {
                lock.unlock();
            }
        }
    }

    /** Waits for room; who wants more than there ever is waits for all there is. */
    Share take(long bytes, boolean background) throws IOException {
        Share share = new Share(Math.min(bytes, mostOf(background)), background);
        lock.lock();
        try {
            Deque<Waiter> queue = background ? behind : first;
            if (first.isEmpty() && queue.isEmpty() && fits(share)) {
                grant(share);
                return share;
            }
            Waiter waiter = new Waiter(share, lock.newCondition());
            queue.addLast(waiter);
            await(waiter, queue);
            return share;
        } finally {
            lock.unlock();
        }
    }

    private void await(Waiter waiter, Deque<Waiter> queue) throws IOException {
        try {
            while (!waiter.served) {
                waiter.granted.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            if (waiter.served) {
                waiter.share.close();
            } else {
                queue.remove(waiter);
                serve();
            }
            throw new InterruptedIOException("interrupted");
        }
    }

    private long mostOf(boolean background) {
        long total = totalBytes.getAsLong();
        return background ? total / 2 : total;
    }

    private boolean fits(Share share) {
        return fits(usedBytes, share.bytes, mostOf(false))
                && (!share.background || fits(usedBehindBytes, share.bytes, mostOf(true)));
    }

    private static boolean fits(long used, long more, long most) {
        return used == 0 || used + more <= most;
    }

    private void grant(Share share) {
        usedBytes += share.bytes;
        usedBehindBytes += share.background ? share.bytes : 0;
    }

    private void serve() {
        serve(first);
        if (first.isEmpty()) {
            serve(behind);
        }
    }

    private void serve(Deque<Waiter> queue) {
        Waiter next = queue.peekFirst();
        while (next != null && fits(next.share)) {
            queue.removeFirst();
            grant(next.share);
            next.served = true;
            next.granted.signal();
            next = queue.peekFirst();
        }
    }

    /** Held now. */
    long usedBytes() {
        lock.lock();
        try {
            return usedBytes;
        } finally {
            lock.unlock();
        }
    }

    /** How many wait. */
    int waiting() {
        lock.lock();
        try {
            return first.size() + behind.size();
        } finally {
            lock.unlock();
        }
    }
}
