package org.globalfs.multicast.core;

import org.globalfs.protocol.HybridClock;
import org.globalfs.protocol.Invariant;

/** The decided prefix of the ring as this member knows it, and the highest timestamp it has met. */
final class Prefix {

    private long decided;
    private long lastTimestamp;
    private long logged;

    Prefix(long decided, long lastTimestamp) {
        this.decided = decided;
        this.lastTimestamp = lastTimestamp;
        this.logged = decided;
    }

    long decided() {
        return decided;
    }

    long lastTimestamp() {
        return lastTimestamp;
    }

    void decide(long instance) {
        Invariant.check(instance == decided + 1, "instance %s decided after %s", instance, decided);
        decided = instance;
    }

    void jumpTo(long instance) {
        Invariant.check(instance > decided, "checkpoint at %s is not beyond %s", instance, decided);
        decided = instance;
        logged = instance;
    }

    void witness(long timestamp) {
        lastTimestamp = Math.max(lastTimestamp, timestamp);
    }

    /** A new hybrid timestamp: wall clock when it is ahead, else the next after the last. */
    long stamp(long wallMs) {
        lastTimestamp = HybridClock.next(lastTimestamp, wallMs);
        return lastTimestamp;
    }

    /** The wall clock's reading, or that of the last timestamp when it is ahead. */
    long hybridMs(long wallMs) {
        return Math.max(wallMs, HybridClock.wallMs(lastTimestamp));
    }

    /** Tells the log, so that a restart need not ask peers for what is known here. */
    void log(Journal journal, Effects effects) {
        if (logged < decided) {
            logged = decided;
            journal.append(new LogRecord.DecidedThrough(decided, lastTimestamp), effects);
        }
    }

    /** A {@link LogRecord.Chosen} of this instance says the same. */
    void loggedThrough(long instance) {
        logged = Math.max(logged, instance);
    }
}
