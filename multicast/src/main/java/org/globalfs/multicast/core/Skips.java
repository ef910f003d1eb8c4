package org.globalfs.multicast.core;

import org.globalfs.multicast.Entry;

/**
 * When a coordinator moves its ring's logical position on for the round-robin merge, and where to:
 * every delta to where it would be had the ring decided lambda instances a second since 1970, and
 * to where a learner waits for it.
 *
 * <p>A ring's position is a function of its decided instances alone ({@link
 * Entry.Skip#positionAfter}), and the target is one of the clock alone. So a new coordinator has
 * nothing to take over: its first skip makes up for the time without coordinator. What it knows of
 * the position, {@code floor}, is the least that its own proposals make it; that only saves skips.
 *
 * <p>Clocks matter to latency only. A ring whose coordinator's clock is behind the other rings'
 * lags until their learners say where they wait; a ring whose clock jumped ahead draws the others
 * along in the same way; one that is beyond its target proposes no skips at all.
 */
class Skips {

    private final long lambda;
    private final long deltaNs;
    private long floor;
    private long wanted;
    private long dueNs;
    private boolean pending;

    Skips(RingConfig config, long nowNs) {
        this.lambda = config.lambda();
        this.deltaNs = config.deltaNs();
        this.dueNs = lambda == 0 ? Long.MAX_VALUE : nowNs;
    }

    /** A learner's merge waits until the ring is there. */
    void want(long position) {
        wanted = Math.max(wanted, position);
    }

    /** Whether the next instance is to carry a skip, if need be an instance of its own. */
    boolean pending(long nowNs, long hybridMs) {
        if (nowNs >= dueNs) {
            dueNs = nowNs + deltaNs;
            pending = target(hybridMs) > floor;
        }
        return pending;
    }

    Entry.Skip take(long hybridMs) {
        pending = false;
        return new Entry.Skip(target(hybridMs));
    }

    /** The position that the ring should have now. */
    long target(long hybridMs) {
        return Math.max(wanted, lambda * hybridMs / 1000);
    }

    void proposed(Batch batch) {
        floor = Entry.Skip.positionAfter(floor, batch.entries());
    }

    long dueNs() {
        return dueNs;
    }
}
