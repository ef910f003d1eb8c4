package org.globalfs.datastore.node;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Makes several chunks at a time: each is read from several nodes' disks and synced on another, and
 * alone it would leave all of them waiting for one another.
 */
public final class Makers implements AutoCloseable {
    /** Each has a block in memory. */
    private static final int AT_ONCE = 4;

    private final ExecutorService threads =
            Executors.newFixedThreadPool(
                    AT_ONCE, Thread.ofPlatform().daemon().name("chunk-maker-", 1).factory());

    /**
     * Returns when all has been done, or the caller's thread is interrupted; throws what one threw.
     */
    public void run(List<Runnable> work) {
        if (work.size() == 1) {
            work.getFirst().run();
            return;
        }
        try {
            for (Future<Object> done :
                    threads.invokeAll(work.stream().map(Executors::callable).toList())) {
                var _ = done.get();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Error error) {
                throw error;
            }
            throw e.getCause() instanceof RuntimeException cause
                    ? cause
                    : new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        threads.shutdown();
    }
}
