package org.globalfs.datastore.s3;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.client.BlockStoreException.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one operation that are under way at once. Those that are left when it ends are
 * interrupted, which closes their connections. Not thread-safe.
 */
final class Transfers<T> implements AutoCloseable {

    /** What the operations of one store share: a thread a request. */
    static final class Threads implements AutoCloseable {
        private final ExecutorService executor =
                Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("s3-", 0).factory());

        @Override
        public void close() {
            executor.shutdownNow();
        }
    }

    /** A request. */
    interface Call<T> {
        T run() throws IOException;
    }

    /** How a request ended: with a value or with a failure. */
    record Outcome<T>(int tag, @Nullable T value, @Nullable BlockStoreException failure) {

        /** Why there is no value. */
        BlockStoreException why() {
            return failure != null
                    ? failure
                    : new BlockStoreException(Reason.UNREACHABLE, "S3 answered with nothing");
        }
    }

    private final Threads threads;
    private final BlockingQueue<Outcome<T>> done = new LinkedBlockingQueue<>();
    private final List<Future<?>> started = new ArrayList<>();
    private int taken;

    Transfers(Threads threads) {
        this.threads = threads;
    }

    /**
     * @param bucket that it goes to, which waits if there are too many already: one that does not
     *     answer keeps no others waiting
     */
    void start(int tag, Bucket bucket, Call<T> call) throws BlockStoreException {
        start(
                tag,
                () -> {
                    try {
                        bucket.permits().acquire();
                    } catch (InterruptedException e) {
                        throw new InterruptedIOException("interrupted while waiting for " + bucket);
                    }
                    try {
                        return call.run();
                    } finally {
                        bucket.permits().release();
                    }
                });
    }

    /** One that goes to no bucket. */
    void start(int tag, Call<T> call) throws BlockStoreException {
        try {
            started.add(threads.executor.submit(() -> done.add(run(tag, call))));
        } catch (RejectedExecutionException e) {
            throw closed(e);
        }
    }

    private Outcome<T> run(int tag, Call<T> call) {
        try {
            return new Outcome<>(tag, call.run(), null);
        } catch (BlockStoreException e) {
            return new Outcome<>(tag, null, e);
        } catch (IOException | RuntimeException | LinkageError e) {
            return new Outcome<>(
                    tag,
                    null,
                    new BlockStoreException(Reason.UNREACHABLE, "S3: " + e.getMessage(), e));
        }
    }

    int underWay() {
        return started.size() - taken;
    }

    /** The next one that ends; null: none does until then. */
    @Nullable Outcome<T> next(long untilNs) throws IOException {
        Outcome<T> outcome;
        try {
            outcome = done.poll(untilNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for S3");
        }
        if (outcome != null) {
            taken++;
            if (outcome.failure != null && threads.executor.isShutdown()) {
                throw closed(outcome.failure);
            }
        }
        return outcome;
    }

    private static BlockStoreException closed(Exception cause) {
        return new BlockStoreException(Reason.CLOSED, "the block store is closed", cause);
    }

    @Override
    public void close() {
        started.forEach(future -> future.cancel(true));
    }
}
