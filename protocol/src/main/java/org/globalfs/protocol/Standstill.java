package org.globalfs.protocol;

/**
 * Time in which this process did not run: it was stopped (SIGSTOP), or its machine was. Who waits
 * for something with a limit does not count that, since nothing could be done meanwhile.
 */
public final class Standstill {
    /** A machine under load is late by less. */
    private static final long LEAST_NS = 1_000_000_000L;

    private Standstill() {}

    /**
     * How long this process stood still, as far as it shows by something that ends now; in
     * nanoseconds, 0 where it was only late.
     *
     * @param beginNs when that began, in {@link System#nanoTime} terms
     * @param atMostNs how long it takes at most in a process that runs
     */
    public static long during(long beginNs, long atMostNs) {
        long beyondNs = System.nanoTime() - beginNs - atMostNs;
        return beyondNs > LEAST_NS ? beyondNs : 0;
    }
}
