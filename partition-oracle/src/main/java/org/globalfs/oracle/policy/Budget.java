package org.globalfs.oracle.policy;

/**
 * So much an hour: what is not used is saved for an hour at most; what is used beyond has to be
 * waited for. Not thread-safe.
 */
public final class Budget {

    private static final double HOUR_MS = 3_600_000;

    private final long anHour;
    private double left;
    private long filledMs;

    /** Full. */
    public Budget(long anHour, long nowMs) {
        this.anHour = anHour;
        this.left = anHour;
        this.filledMs = nowMs;
    }

    /** How much is left; 0 or less: nothing. */
    public long left(long nowMs) {
        left = Math.min(anHour, left + anHour * ((nowMs - filledMs) / HOUR_MS));
        filledMs = nowMs;
        return (long) Math.ceil(left);
    }

    /** Whether nothing of it is missing, as of a new one. */
    public boolean isFull(long nowMs) {
        var _ = left(nowMs);
        return left >= anHour;
    }

    public void spend(long amount) {
        left -= amount;
    }
}
