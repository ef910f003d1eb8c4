package org.globalfs.replica.service;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.globalfs.protocol.Shutdown;

/** Runs a replica's recurring work, each kind at its period, on one thread. */
final class Upkeep implements AutoCloseable {

    /** What is due so soon is done together with what is due now. */
    private static final long EARLY_NS = 10_000_000;

    /** A piece of work; an exception stops the replica. */
    interface Work {
        void run() throws Exception;
    }

    private static final class Task {
        final long periodNs;
        final Work work;
        long lastNs = System.nanoTime();

        Task(long periodMs, Work work) {
            this.periodNs = periodMs * 1_000_000;
            this.work = work;
        }
    }

    private final List<Task> tasks = new ArrayList<>();
    private final Shutdown shutdown;
    private final Consumer<Throwable> onFatal;
    private final Thread thread;

    Upkeep(String name, Shutdown shutdown, Consumer<Throwable> onFatal) {
        this.shutdown = shutdown;
        this.onFatal = onFatal;
        this.thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
    }

    /** Before {@link #start}. */
    Upkeep every(long periodMs, Work work) {
        tasks.add(new Task(periodMs, work));
        return this;
    }

    Upkeep start() {
        thread.start();
        return this;
    }

    private void run() {
        try {
            while (!shutdown.await(untilDueNs(), TimeUnit.NANOSECONDS)) {
                for (Task task : tasks) {
                    long nowNs = System.nanoTime();
                    if (nowNs - task.lastNs >= task.periodNs - EARLY_NS && !shutdown.begun()) {
                        task.lastNs = nowNs;
                        task.work.run();
                    }
                }
            }
        } catch (Throwable e) {
            onFatal.accept(e);
        }
    }

    private long untilDueNs() {
        long nowNs = System.nanoTime();
        long nextNs = Long.MAX_VALUE;
        for (Task task : tasks) {
            nextNs = Math.min(nextNs, task.periodNs - (nowNs - task.lastNs));
        }
        return Math.max(0, nextNs);
    }

    /** After the shutdown began. */
    @Override
    public void close() {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
