package org.globalfs.datastore.node;

import java.util.concurrent.TimeUnit;

/**
 * What a connection waits for, and since when, so that one that nobody uses, or whose client has
 * stopped in the middle, does not hold its memory for ever. Told by the connection's thread, asked
 * by the acceptor's.
 */
final class ConnectionWatch {
    /** What a connection may be at. */
    enum Phase {
        /** The client has not said who it is. */
        NEW,
        /** No request is under way. */
        IDLE,
        /** The client is to send the rest of a request, or to take an answer. */
        MOVING,
        /** A request is being worked on here. */
        WORKING
    }

    private volatile long sinceNs = System.nanoTime();
    private volatile Phase phase = Phase.NEW;

    /** It is there from now on; again, if it was: something has moved. */
    void enter(Phase next) {
        sinceNs = System.nanoTime(); // first: who sees the new phase must not see the old time
        phase = next;
    }

    /** How long no request has been under way; -1: one is, or the client is not known yet. */
    long idleNs(long nowNs) {
        return phase == Phase.IDLE ? Math.max(0, nowNs - sinceNs) : -1;
    }

    /** Whether it has lasted too long. */
    boolean isOverdue(long nowNs, StorageServer.Limits limits) {
        Phase now = phase;
        long forMs = TimeUnit.NANOSECONDS.toMillis(nowNs - sinceNs);
        return switch (now) {
            case NEW, MOVING -> forMs >= limits.stalledMs();
            case IDLE -> forMs >= limits.idleMs();
            case WORKING -> false;
        };
    }
}
