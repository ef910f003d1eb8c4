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
final class Alternation implements Fault {

    /** Breaks, or mends. */
    interface Change {
        void make() throws IOException;
    }

    private final String name;
    private final String target;
    private final Change breaks;
    private final IntSupplier brokenMs;
    private final Change mends;
    private final IntSupplier mendedMs;
    private final CountDownLatch over = new CountDownLatch(1);
    private @Nullable CompletableFuture<Void> alternating;

    Alternation(
            String name,
            String target,
            Change breaks,
            IntSupplier brokenMs,
            Change mends,
            IntSupplier mendedMs) {
        this.name = name;
        this.target = target;
        this.breaks = breaks;
        this.brokenMs = brokenMs;
        this.mends = mends;
        this.mendedMs = mendedMs;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String target() {
        return target;
    }

    @Override
    public void begin() {
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

    @Override
    public void end() throws IOException {
        over.countDown();
        if (alternating != null) {
            try {
                alternating.join();
            } catch (CompletionException e) {
                throw new IOException(name + " of " + target + " cannot be made", e);
            }
        }
    }
}
