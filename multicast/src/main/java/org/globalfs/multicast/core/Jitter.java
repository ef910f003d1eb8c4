package org.globalfs.multicast.core;

/** Spreads candidates in time; the same seed gives the same spread (SplitMix64). */
final class Jitter {

    private final long spanNs;
    private long state;

    Jitter(long seed, long spanNs) {
        this.state = seed;
        this.spanNs = spanNs;
    }

    long nextNs() {
        state += 0x9E3779B97F4A7C15L;
        long z = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return Long.remainderUnsigned(z ^ (z >>> 31), spanNs + 1);
    }
}
