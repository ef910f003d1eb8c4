package org.globalfs.replica.grants;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * A session's grants and the recalls it has not acknowledged, oldest first. Guarded by the table's
 * lock.
 */
final class Session {

    /** A grant that the session is asked to give back. */
    record Recall(long number, long ino, long atNs) {}

    final long id;

    /** Number of the lease that all of this lives by. */
    final long lease;

    /** Of the table's clock. */
    final long begunAt;

    /** Oldest first. */
    final Set<Long> granted = new LinkedHashSet<>();

    final Deque<Recall> unacknowledged = new ArrayDeque<>();
    long expiresNs;
    boolean polled;

    Session(long id, long lease, long begunAt) {
        this.id = id;
        this.begunAt = begunAt;
        this.lease = lease;
    }

    boolean expired(long nowNs) {
        return nowNs - expiresNs >= 0;
    }

    boolean isRecalled(long ino) {
        for (Recall recall : unacknowledged) {
            if (recall.ino == ino) {
                return true;
            }
        }
        return false;
    }
}
