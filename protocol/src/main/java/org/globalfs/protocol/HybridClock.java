package org.globalfs.protocol;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * A hybrid logical clock: timestamps of 48 bits of wall-clock milliseconds and 16 bits of counter,
 * that only grow and always exceed every timestamp seen in a message.
 *
 * <p>When more than 65,536 events fall into one millisecond the counter carries into the
 * milliseconds; the clock then runs ahead of the wall until the wall catches up.
 */
public final class HybridClock {
    public static final int COUNTER_BITS = 16;
    private static final long COUNTER_MASK = (1L << COUNTER_BITS) - 1;

    private final LongSupplier wallMs;
    private final AtomicLong last = new AtomicLong();

    public HybridClock(LongSupplier wallMs) {
        this.wallMs = wallMs;
    }

    public static HybridClock system() {
        return new HybridClock(System::currentTimeMillis);
    }

    /** A timestamp above every earlier one of this clock. */
    public long now() {
        long wall = wallMs.getAsLong();
        return last.updateAndGet(previous -> next(previous, wall));
    }

    /** Makes every later timestamp exceed the remote one; returns the first such. */
    public long update(long remote) {
        long wall = wallMs.getAsLong();
        return last.updateAndGet(previous -> next(Math.max(previous, remote), wall));
    }

    /** The highest timestamp given or seen so far. */
    public long last() {
        return last.get();
    }

    /** The rule of the clock without its state, for cores that keep their own. */
    public static long next(long previous, long wallMs) {
        return Math.max(previous + 1, of(wallMs, 0));
    }

    public static long of(long wallMs, int counter) {
        Invariant.check(wallMs >= 0 && wallMs < 1L << 47, "wall clock %s ms out of range", wallMs);
        Invariant.check(counter >= 0 && counter <= COUNTER_MASK, "counter %s too large", counter);
        return wallMs << COUNTER_BITS | counter;
    }

    public static long wallMs(long timestamp) {
        return timestamp >>> COUNTER_BITS;
    }

    /** As nanoseconds since 1970, in the same order. */
    public static long ns(long timestamp) {
        return wallMs(timestamp) * 1_000_000 + counter(timestamp);
    }

    public static int counter(long timestamp) {
        return (int) (timestamp & COUNTER_MASK);
    }

    /** For people: the wall part and the counter. */
    public static String format(long timestamp) {
        return Instant.ofEpochMilli(wallMs(timestamp)) + "+" + counter(timestamp);
    }
}
