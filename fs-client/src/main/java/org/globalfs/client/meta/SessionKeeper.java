package org.globalfs.client.meta;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.globalfs.protocol.RepeatedTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells every partition that the session has to do with, three times a lease, that it lives and
 * which inodes it holds open; says goodbye at the end. A partition that does not answer does not
 * delay the others.
 */
public final class SessionKeeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(SessionKeeper.class);
    private static final int RENEWALS_A_LEASE = 3;
    private static final long CHECK_MS = 500;
    private static final Duration GOODBYE = Duration.ofSeconds(1);

    private final SessionLease lease;
    private final Duration interval;
    private final ScheduledExecutorService timer;

    public SessionKeeper(SessionLease lease) {
        this.lease = lease;
        this.interval = lease.length().dividedBy(RENEWALS_A_LEASE);
        this.timer =
                Executors.newScheduledThreadPool(
                        2, Thread.ofPlatform().daemon().name("session-keeper-", 1).factory());
        repeat(interval.toMillis(), this::renew);
        repeat(Math.min(CHECK_MS, interval.toMillis()), lease::check);
    }

    private void repeat(long periodMs, Runnable task) {
        ScheduledFuture<?> _ =
                timer.scheduleWithFixedDelay(
                        new RepeatedTask(
                                LOG,
                                "session "
                                        + lease.client().session().id()
                                        + " could not be renewed",
                                task),
                        periodMs,
                        periodMs,
                        TimeUnit.MILLISECONDS);
    }

    /** One round of renewals. */
    public void renew() {
        everywhere(
                lease.partitions(),
                partition -> lease.renew(partition, List.of(), Patience.of(interval)));
        everywhere(
                lease.takeDue(),
                partition -> lease.renew(partition, List.of(), Patience.of(interval)));
    }

    private static void everywhere(Set<Integer> partitions, IntConsumer task) {
        List<Thread> running = new ArrayList<>();
        for (int partition : partitions) {
            running.add(Thread.startVirtualThread(() -> task.accept(partition)));
        }
        try {
            for (Thread thread : running) {
                thread.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the session. Partitions that do not answer now drop it when its lease ends. */
    @Override
    public void close() {
        timer.shutdownNow();
        everywhere(lease.partitions(), partition -> lease.end(partition, Patience.of(GOODBYE)));
    }
}
