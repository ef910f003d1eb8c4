package org.globalfs.replica.service;

/** How long a call may wait inside the replica. */
final class Deadlines {

    private static final int DEFAULT_WAIT_MS = 5_000;
    private static final int MAX_WAIT_MS = 60_000;

    private Deadlines() {}

    /** The point of System.nanoTime by which a call is to be answered. */
    static long of(boolean given, int waitMs) {
        int bounded = given ? Math.clamp(waitMs, 1, MAX_WAIT_MS) : DEFAULT_WAIT_MS;
        return System.nanoTime() + bounded * 1_000_000L;
    }
}
