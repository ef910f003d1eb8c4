package org.globalfs.protocol;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.protocol.wire.BlockRef;

/**
 * Makes ids for new blocks: the time in ms (48 bits), and 80 bits that never repeat with it.
 * Thread-safe.
 *
 * <p>The time is how a partition tells blocks that may still be on their way into a file from those
 * that came too late (Counters.fenceMs in metadata-replica): it need not be right, but it must not
 * be before a fence that the maker was told of.
 */
public final class BlockIds {
    private static final int TIME_SHIFT = 16;

    /**
     * 64 random bits of this maker, and a random starting point: (time, counter) never repeats
     * under them.
     */
    private final long base;

    private final AtomicLong counter;
    private final AtomicLong notBeforeMs = new AtomicLong();

    /** The two halves of an id. */
    public record Id(long high, long low) {}

    public BlockIds() {
        SecureRandom random = new SecureRandom();
        base = random.nextLong();
        counter = new AtomicLong(random.nextInt() & 0xffff);
    }

    public Id next() {
        long number = counter.incrementAndGet();
        long timeMs = Math.max(System.currentTimeMillis(), notBeforeMs.get());
        return new Id(timeMs << TIME_SHIFT | number & 0xffff, base + number * 0x9e3779b97f4a7c15L);
    }

    /** From now on ids have at least this time. */
    public void notBefore(long timeMs) {
        notBeforeMs.accumulateAndGet(timeMs, Math::max);
    }

    /** When the block's id was made, by its maker's clock. */
    public static long timeMs(BlockRef block) {
        return block.getIdHigh() >>> TIME_SHIFT;
    }
}
