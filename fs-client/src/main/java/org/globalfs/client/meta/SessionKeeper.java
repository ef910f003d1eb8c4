package org.globalfs.client.meta;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.protocol.RepeatedTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells every partition that the session has to do with, at least three times a lease, that it
 * lives and which inodes it holds open; says goodbye at the end. Each partition has a thread of its
 * own as long as it does not answer, so one that is silent delays no other.
 */
public final class SessionKeeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SessionKeeper.class);
    private static final long CHECK_MS = 500;
    private static final int PAUSE_PART = 20;
    private static final Duration GOODBYE = Duration.ofSeconds(1);

    private final SessionLease lease;
    private final Duration interval;
    private final ScheduledExecutorService timer;

    /** Partitions where a renewal is under way, or tried again. */
    private final Set<Integer> renewing = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    public SessionKeeper(SessionLease lease) {
        this.lease = lease;
        this.interval = lease.interval();
        this.timer =
                Executors.newScheduledThreadPool(
                        2, Thread.ofPlatform().daemon().name("session-keeper-", 1).factory());
        repeat(interval.toMillis(), this::renew);
        long checkMs = Math.min(CHECK_MS, interval.toMillis());
        repeat(checkMs, lease::check);
        repeat(checkMs, () -> lease.due().forEach(this::renew));
    }

    private void repeat(long periodMs, Runnable task) {
        ScheduledFuture<?> _ =
                timer.scheduleWithFixedDelay(
                        repeated(task), periodMs, periodMs, TimeUnit.MILLISECONDS);
    }

    private RepeatedTask repeated(Runnable task) {
        long session = lease.client().session().id();
        return new RepeatedTask(LOG, "session " + session + " could not be renewed", task);
    }

    /** Begins one round of renewals; no partition that does not answer yet gets a second one. */
    public void renew() {
        lease.partitions().forEach(this::renew);
    }

    private void renew(int partition) {
        if (!closed && renewing.add(partition)) {
            boolean begun = false;
            try {
                Thread.startVirtualThread(repeated(() -> renewUntilAnswered(partition)));
                begun = true;
            } finally {
                if (!begun) {
                    renewing.remove(partition);
                }
            }
        }
    }

    private void renewUntilAnswered(int partition) {
        try {
            while (!lease.renew(partition, List.of(), briefly()) && !closed) {
                LockSupport.parkNanos(interval.toNanos() / PAUSE_PART);
            }
        } finally {
            renewing.remove(partition);
        }
    }

    private Patience briefly() {
        return Patience.until(System.nanoTime() + interval.toNanos(), () -> closed);
    }

    /** Ends the session. Partitions that do not answer now drop it when its lease ends. */
    @Override
    public void close() {
        closed = true;
        timer.shutdownNow();
        List<Thread> running = new ArrayList<>();
        for (int partition : lease.partitions()) {
            running.add(
                    Thread.startVirtualThread(() -> lease.end(partition, Patience.of(GOODBYE))));
        }
        try {
            for (Thread thread : running) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
