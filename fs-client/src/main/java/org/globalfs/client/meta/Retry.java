package org.globalfs.client.meta;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.protocol.Standstill;

/**
 * The pauses and time-outs of one operation's attempts: short at first, longer while it does not
 * come through.
 */
final class Retry {

    private static final long FIRST_PAUSE_NS = 2_000_000;
    private static final long LONGEST_PAUSE_NS = 100_000_000;
    private static final long FIRST_TIMEOUT_MS = 900;
    private static final long LONGEST_TIMEOUT_MS = 8_000;

    /** A live replica that cannot answer says so this much before the caller gives up on it. */
    static final long ANSWER_MARGIN_MS = 150;

    private final Patience patience;
    private long pauseNs = FIRST_PAUSE_NS;
    private long stoppedNs;
    private long timeoutMs = FIRST_TIMEOUT_MS;

    Retry(Patience patience) {
        this.patience = patience;
    }

    /** Time-out of the next attempt. */
    long timeoutMs() {
        return Math.clamp(leftNs() / 1_000_000, 1, timeoutMs);
    }

    /** How long the replica itself may try in that time. */
    int waitMs(long attemptTimeoutMs) {
        return (int)
                Math.max(1, attemptTimeoutMs - Math.min(ANSWER_MARGIN_MS, attemptTimeoutMs / 2));
    }

    /** No answer in time: give the next attempt longer, a loaded cluster needs no extra load. */
    void timedOut() {
        timeoutMs = Math.min(timeoutMs * 2, LONGEST_TIMEOUT_MS);
    }

    /** Waits a moment, longer each time. */
    void pause() {
        long jittered = pauseNs / 2 + ThreadLocalRandom.current().nextLong(pauseNs / 2 + 1);
        long beginNs = System.nanoTime();
        LockSupport.parkNanos(Math.clamp(leftNs(), 1, jittered));
        took(beginNs, jittered);
        pauseNs = Math.min(pauseNs * 2, LONGEST_PAUSE_NS);
    }

    /**
     * What began then should have taken so long at most. While this process is stopped, no attempt
     * can succeed: that time is not counted, or an operation that was under way would be given up
     * when the process goes on.
     */
    void took(long beginNs, long atMostNs) {
        stoppedNs += Standstill.during(beginNs, atMostNs);
    }

    private long leftNs() {
        return patience.leftNs() + stoppedNs;
    }

    boolean over() {
        return patience.cancelled() || leftNs() <= 0 || Thread.currentThread().isInterrupted();
    }
}
