package org.globalfs.client.fuse;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.Standstill;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers for workers that take too long: EIO once the request's time is over, EINTR once the
 * process that waits for it was killed.
 *
 * <p>Requests for locks are not its business, but for handing interrupts on: any signal ends a wait
 * for a lock.
 *
 * <p>The kernel reports any signal (INTERRUPT), but waits on for the answer. EINTR is given only
 * when the signal ends the process: nobody then sees it, while a program that merely has a handler
 * (a shell's SIGCHLD, a profiler's timer) does not expect EINTR from stat(2) or rename(2), which no
 * local file system gives. As a second signal is not reported, interrupted requests are looked at
 * until they end.
 *
 * <p>An interrupt has to be read like any request. While all workers are at work nobody does, and
 * the signals of all who wait are looked up.
 */
final class Watchdog implements Runnable {
    private static final Logger log = LoggerFactory.getLogger(Watchdog.class);
    private static final long LONGEST_TICK_NS = TimeUnit.MILLISECONDS.toNanos(250);

    /**
     * An interrupt can be read before the request that it is about is known to belong to a worker.
     */
    private static final long UNMATCHED_NS = TimeUnit.SECONDS.toNanos(2);

    private final long timeoutNs;
    private final OperationStatistics statistics;
    private final LockOperations locks;
    private final Map<Long, Long> interrupted = new ConcurrentHashMap<>();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final MemorySegment memory = Libc.pages(4096);
    private final ByteBuffer bytes = memory.asByteBuffer().order(ByteOrder.nativeOrder());
    private final MemorySegment errnoState = Libc.newState();
    private volatile @Nullable WorkerPool pool;

    Watchdog(long timeoutNs, OperationStatistics statistics, LockOperations locks) {
        this.timeoutNs = timeoutNs;
        this.statistics = statistics;
        this.locks = locks;
    }

    void start(WorkerPool watched, String name) {
        pool = watched;
        Thread.ofPlatform().name("fuse-watchdog-" + name).daemon().start(this);
    }

    void end() {
        ended.countDown();
    }

    /** The process that waits for this request has a signal. */
    void interrupt(long unique) {
        interrupted.put(unique, System.nanoTime());
        checkInterrupted();
    }

    @Override
    public void run() {
        long tickNs =
                Math.max(
                        TimeUnit.MILLISECONDS.toNanos(5), Math.min(LONGEST_TICK_NS, timeoutNs / 4));
        try {
            long beginNs = System.nanoTime();
            while (!ended.await(tickNs, TimeUnit.NANOSECONDS)) {
                long stoodStillNs = Standstill.during(beginNs, tickNs);
                beginNs = System.nanoTime();
                try {
                    checkDeadlines(stoodStillNs);
                    checkInterrupted();
                    checkUnread();
                } catch (RuntimeException | Error e) {
                    log.error("the watchdog of a mount met a failure", e);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * @param stoodStillNs for so long this process did not run
     */
    private void checkDeadlines(long stoodStillNs) {
        WorkerPool watched = pool;
        if (watched == null) {
            return;
        }
        for (Worker worker : watched.workers()) {
            long unique = worker.pending();
            if (unique != 0 && stoodStillNs > 0) {
                worker.caller().stoodStill(stoodStillNs);
            }
            if (unique != 0 && System.nanoTime() - worker.caller().deadlineNs() > 0) {
                String what = worker.describe();
                if (answerFor(watched, worker, unique, Errno.EIO)) {
                    statistics.countTimeout();
                    log.warn("answered EIO to a request that ran out of time: {}", what);
                }
            }
        }
    }

    private void checkInterrupted() {
        WorkerPool watched = pool;
        if (interrupted.isEmpty() || watched == null) {
            return;
        }
        long now = System.nanoTime();
        Iterator<Map.Entry<Long, Long>> each = interrupted.entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry<Long, Long> entry = each.next();
            if (locks.interrupt(entry.getKey())) {
                continue;
            }
            Worker worker = holder(watched, entry.getKey());
            if (worker == null) {
                if (now - entry.getValue() > UNMATCHED_NS) {
                    each.remove();
                }
            } else if (PendingSignals.fatal(worker.caller().pid())) {
                if (answerFor(watched, worker, entry.getKey(), Errno.EINTR)) {
                    statistics.countInterrupt();
                }
                each.remove();
            }
        }
    }

    /** For the interrupts that nobody reads. */
    private void checkUnread() {
        WorkerPool watched = pool;
        if (watched == null || watched.isReading()) {
            return;
        }
        long beforeNs = System.nanoTime() - LONGEST_TICK_NS;
        for (Worker worker : watched.workers()) {
            long unique = worker.pending();
            if (unique != 0
                    && worker.startNs() - beforeNs < 0
                    && PendingSignals.fatal(worker.caller().pid())
                    && answerFor(watched, worker, unique, Errno.EINTR)) {
                statistics.countInterrupt();
            }
        }
        locks.interruptSignalled(beforeNs);
    }

    private static @Nullable Worker holder(WorkerPool watched, long unique) {
        for (Worker worker : watched.workers()) {
            if (worker.pending() == unique) {
                return worker;
            }
        }
        return null;
    }

    private boolean answerFor(WorkerPool watched, Worker worker, long unique, Errno errno) {
        FuseDevice device = worker.device();
        if (!worker.giveUp(unique)) {
            return false;
        }
        synchronized (bytes) {
            bytes.putInt(FuseLayout.OutHeader.LEN, FuseLayout.OutHeader.SIZE_OF);
            bytes.putInt(FuseLayout.OutHeader.ERROR, -errno.number());
            bytes.putLong(FuseLayout.OutHeader.UNIQUE, unique);
            long written =
                    Libc.write(
                            device.fd(),
                            memory.address(),
                            FuseLayout.OutHeader.SIZE_OF,
                            errnoState);
            if (written < 0) {
                log.info(
                        "the kernel no longer waits for request {}: {}",
                        unique,
                        Errno.of((int) -written));
            }
        }
        watched.gaveUp();
        return true;
    }
}
