package org.globalfs.datastore.node;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;

/**
 * Makes several chunks at a time: each is read from several nodes' disks and synced on another, and
 * alone it would leave all of them waiting for one another.
 */
public final class Makers implements AutoCloseable {
    /** Each has a block in memory. */
    private static final int AT_ONCE = 4;

    private final ExecutorService threads;

    public Makers() {
        this(Thread.ofPlatform().daemon().name("chunk-maker-", 1).factory());
    }

    Makers(ThreadFactory threads) {
        this.threads = Executors.newFixedThreadPool(AT_ONCE, threads);
    }

    /**
     * Returns when all has been done, or the caller's thread is interrupted; throws what one threw.
     * What the system gives no thread for is done on the caller's.
     */
    public void run(List<Runnable> work) {
        if (work.size() == 1) {
            work.getFirst().run();
            return;
        }
        List<FutureTask<Boolean>> tasks =
                work.stream().map(each -> new FutureTask<>(each, true)).toList();
        tasks.forEach(this::begin);
        ExecutionException failure = null;
        for (FutureTask<Boolean> task : tasks) {
            try {
                var _ = task.get();
            } catch (InterruptedException e) {
                tasks.forEach(each -> each.cancel(true));
                Thread.currentThread().interrupt();
                return;
            } catch (ExecutionException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throwCause(failure);
        }
    }

    private void begin(FutureTask<Boolean> task) {
        try {
            threads.execute(task);
        } catch (OutOfMemoryError e) {
            task.run(); // which does nothing the second time, should a thread come to it
        }
    }

    private static void throwCause(ExecutionException failure) {
        if (failure.getCause() instanceof Error error) {
            throw error;
        }
        throw failure.getCause() instanceof RuntimeException cause
                ? cause
                : new IllegalStateException(failure);
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
