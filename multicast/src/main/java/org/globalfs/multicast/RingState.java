package org.globalfs.multicast;

import org.jspecify.annotations.Nullable;

/** How far a ring's order has been executed, and what follows from it for whoever goes on. */
public interface RingState {

    /**
     * Highest instance the state has executed: delivery resumes after it. 0 when nothing was
     * executed yet.
     */
    long applied();

    /**
     * Timestamp of the newest command in what {@link #applied} covers, 0 if none: timestamps of the
     * ring go on above it.
     */
    long lastTimestamp();

    /** The newest membership of the ring in what {@link #applied} covers, null if none. */
    @Nullable Membership membership();
}
