package org.globalfs.client.meta;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** How long somebody waits for an answer. */
public interface Patience {

    /** In {@link System#nanoTime} terms. */
    long deadlineNs();

    /** Nobody waits any more. */
    boolean cancelled();

    static Patience until(long deadlineNs) {
        return until(deadlineNs, () -> false);
    }

    static Patience until(long deadlineNs, BooleanSupplier cancelled) {
        return new Patience() {
            @Override
            public long deadlineNs() {
                return deadlineNs;
            }

            @Override
            public boolean cancelled() {
                return cancelled.getAsBoolean();
            }
        };
    }

    static Patience of(Duration duration) {
        return until(System.nanoTime() + duration.toNanos());
    }

    default long leftNs() {
        return deadlineNs() - System.nanoTime();
    }

    default boolean over() {
        return cancelled() || leftNs() <= 0;
    }
}
