package org.globalfs.multicast.core;

/**
 * When a coordinator has to say what is decided because no Accept has said it: soon, but not while
 * the next Accept may be about to. For rings where the coordinator alone gets the votes; it halves
 * the messages of a command there.
 */
final class Announcement {

    /** How long others may wait for what an Accept would tell them. */
    static final long PATIENCE_NS = 3_000_000;

    private static final long NEVER = Long.MAX_VALUE;

    private final boolean needed;
    private long announced;
    private long dueNs = NEVER;

    Announcement(RingConfig config) {
        this.needed = !config.acknowledgedAnywhere();
    }

    /** All have been told that everything through the instance is decided. */
    void made(long decided) {
        announced = decided;
        dueNs = NEVER;
    }

    void schedule(long decided, long nowNs) {
        if (needed && decided > announced && dueNs == NEVER) {
            dueNs = nowNs + PATIENCE_NS;
        }
    }

    boolean isDue(long nowNs) {
        return nowNs >= dueNs;
    }

    long dueNs() {
        return dueNs;
    }
}
