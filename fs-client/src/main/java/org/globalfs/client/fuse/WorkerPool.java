package org.globalfs.client.fuse;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.protocol.FailureNews;
import org.globalfs.protocol.Threads;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of one mount, so many that one is always waiting for the next request while there are
 * fewer than the limit at work: a slow operation never holds up another.
 *
 * <p>A worker that took a request and leaves nobody reading lets another one read before it goes to
 * work: a parked one, the most recently used first, else a new one. One that comes back while
 * enough are reading parks. Workers whose request was answered for them by the watchdog do not
 * count until they come back, nor do those that wait for the kernel, which may need another request
 * served first.
 *
 * <p>Where the system gives no further thread, those that there are serve: one that has answered
 * reads again as long as nobody does.
 *
 * <p>{@code readers} is lowered without the lock. It is checked again under the lock both before
 * parking and before waking, so that of the last reader that leaves and a worker that parks at the
 * same time one sees the other.
 */
final class WorkerPool {
    private static final Logger log = LoggerFactory.getLogger(WorkerPool.class);

    /** Threads stuck in given-up requests are replaced up to this many times the limit. */
    private static final int STUCK_FACTOR = 4;

    /** Makes a worker of the pool; the number is for its name. */
    interface Factory {
        Worker make(WorkerPool pool, int number);
    }

    private final int keptReaders;
    private final int maxThreads;
    private final Factory factory;
    private final AtomicInteger readers = new AtomicInteger();
    private final List<Worker> workers = new CopyOnWriteArrayList<>();
    private final CountDownLatch disconnected = new CountDownLatch(1);
    private final CountDownLatch empty = new CountDownLatch(1);

    private final Object lock = new Object();
    private final ArrayDeque<Worker> parked = new ArrayDeque<>();
    private int alive;
    private int givenUp;
    private int awaitingKernel;
    private int numbered;
    private boolean saturated;
    private final FailureNews shortages = new FailureNews();

    /**
     * Could not be begun for want of a thread: it, and its descriptor, are for the next attempt.
     */
    private @Nullable Worker unbegun;

    private boolean closed;

    WorkerPool(int keptReaders, int maxThreads, Factory factory) {
        this.keptReaders = keptReaders;
        this.maxThreads = maxThreads;
        this.factory = factory;
    }

    void start() {
        synchronized (lock) {
            startWorker();
            for (int i = 1; i < keptReaders; i++) {
                startWorkerIfPossible();
            }
        }
    }

    List<Worker> workers() {
        return workers;
    }

    /** False: all are at work, and what the kernel has to say waits. */
    boolean isReading() {
        return readers.get() > 0;
    }

    /** A reader has a request and goes to work. */
    void took() {
        if (readers.decrementAndGet() == 0) {
            ensureReader();
        }
    }

    private void ensureReader() {
        synchronized (lock) {
            if (closed || readers.get() > 0) {
                return;
            }
            Worker waiting = parked.pollFirst();
            if (waiting != null) {
                readers.incrementAndGet();
                waiting.resume();
            } else if (atWork() < maxThreads && alive < STUCK_FACTOR * maxThreads) {
                startWorkerIfPossible();
            } else if (!saturated) {
                saturated = true;
                log.warn(
                        "all {} threads of the mount are at work: further requests wait", atWork());
            }
        }
    }

    /** Lock held. */
    private int atWork() {
        return alive - givenUp - awaitingKernel;
    }

    private void startWorkerIfPossible() {
        try {
            startWorker();
        } catch (OutOfMemoryError e) {
            if (shortages.of(e, System.nanoTime())) {
                log.warn(
                        "no further thread could be begun: the mount serves with {}. {}",
                        alive,
                        Threads.remedy());
            }
        }
    }

    private void startWorker() {
        Worker worker = unbegun != null ? unbegun : factory.make(this, ++numbered);
        unbegun = worker;
        workers.add(worker);
        alive++;
        readers.incrementAndGet();
        try {
            worker.start();
            unbegun = null;
        } finally {
            if (unbegun != null) {
                readers.decrementAndGet();
                alive--;
                workers.remove(worker);
            }
        }
    }

    /** A worker is done: true once it shall read, false when it shall end. */
    boolean mayReadAgain(Worker worker) {
        int reading = readers.get();
        while (reading < keptReaders) {
            if (readers.compareAndSet(reading, reading + 1)) {
                return true;
            }
            reading = readers.get();
        }
        synchronized (lock) {
            if (closed) {
                return false;
            }
            saturated = false;
            if (readers.get() == 0) {
                readers.incrementAndGet();
                return true;
            }
            if (atWork() > maxThreads) {
                return false;
            }
            parked.addFirst(worker);
        }
        worker.parkUntilResumed();
        synchronized (lock) {
            return !closed;
        }
    }

    /** The watchdog answered a worker's request: the worker is stuck for now. */
    void gaveUp() {
        synchronized (lock) {
            givenUp++;
        }
        ensureReader();
    }

    /** A worker whose request had been given up came back. */
    void returned() {
        synchronized (lock) {
            givenUp--;
        }
    }

    /** A worker is going to wait for the kernel, and for what that may be waiting for. */
    void awaitsKernel() {
        synchronized (lock) {
            awaitingKernel++;
        }
        ensureReader();
    }

    /** It has waited. */
    void awaitedKernel() {
        synchronized (lock) {
            awaitingKernel--;
        }
    }

    void left(Worker worker) {
        workers.remove(worker);
        synchronized (lock) {
            alive--;
            if (closed && alive - givenUp <= 0) {
                empty.countDown();
            }
        }
    }

    /** The connection has ended. */
    void disconnected() {
        synchronized (lock) {
            closed = true;
            for (Worker worker : parked) {
                worker.resume();
            }
            parked.clear();
        }
        disconnected.countDown();
    }

    /** All workers have ended, so that their descriptors can be closed. */
    boolean drained() {
        synchronized (lock) {
            return alive == 0;
        }
    }

    void awaitDisconnected() throws InterruptedException {
        disconnected.await();
    }

    /** Waits for the workers to end; false: some are still at work. */
    boolean awaitEmpty(long timeoutMs) throws InterruptedException {
        return empty.await(timeoutMs, TimeUnit.MILLISECONDS);
    }
}
