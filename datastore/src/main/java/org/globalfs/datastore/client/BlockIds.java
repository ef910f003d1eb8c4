package org.globalfs.datastore.client;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes ids of blocks that no other store makes: 64 random bits of this store, and a random
 * starting point: (time, counter) never repeats under them.
 */
public final class BlockIds {
    private final long base;
    private final AtomicLong counter;

    /** A block's id. */
    public record Id(long high, long low) {}

    public BlockIds() {
        SecureRandom random = new SecureRandom();
        base = random.nextLong();
        counter = new AtomicLong(random.nextInt() & 0xffff);
    }

    public Id next() {
        long number = counter.incrementAndGet();
        return new Id(
                System.currentTimeMillis() << 16 | number & 0xffff,
                base + number * 0x9e3779b97f4a7c15L);
    }
}
