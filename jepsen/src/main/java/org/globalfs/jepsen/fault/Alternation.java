package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** Something that is wrong for some milliseconds, then right for some, again and again. */
final class Alternation {

    /** Breaks, or mends. */
    interface Change {
        void make() throws IOException;
    }

    private final Change breaks;
    private final IntSupplier brokenMs;
    private final Change mends;
    private final IntSupplier mendedMs;
    private final CountDownLatch over = new CountDownLatch(1);
    private @Nullable CompletableFuture<Void> alternating;

    Alternation(Change breaks, IntSupplier brokenMs, Change mends, IntSupplier mendedMs) {
        this.breaks = breaks;
        this.brokenMs = brokenMs;
        this.mends = mends;
        this.mendedMs = mendedMs;
    }

    /** Once. */
    void begin() {
        alternating = CompletableFuture.runAsync(this::alternate, Thread::startVirtualThread);
    }

    private void alternate() {
        try {
            do {
                breaks.make();
                boolean ended = over.await(brokenMs.getAsInt(), TimeUnit.MILLISECONDS);
                mends.make();
                if (ended) {
                    return;
                }
            } while (!over.await(mendedMs.getAsInt(), TimeUnit.MILLISECONDS));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** All is mended when this returns. */
    void end() throws IOException {
        over.countDown();
        if (alternating != null) {
            try {
                alternating.join();
            } catch (CompletionException e) {
                throw new IOException("cannot break and mend in turn", e);
            }
        }
    }
}
