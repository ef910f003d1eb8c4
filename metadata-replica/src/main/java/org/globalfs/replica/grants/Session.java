package org.globalfs.replica.grants;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * A session's grants and the recalls it has not acknowledged, oldest first. Guarded by the table's
 * lock.
 */
final class Session {

    /** Of a grant that the session is asked to give back. */
    record Recall(long number, long atNs) {}

    final long id;

    /** Number of the lease that all of this lives by. */
    final long lease;

    /** Of the table's clock. */
    final long begunAt;

    /** Oldest first. */
    final Set<Long> granted = new LinkedHashSet<>();

    /** By inode, oldest first, which is in the order of their numbers. */
    final LinkedHashMap<Long, Recall> unacknowledged = new LinkedHashMap<>();

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
        return unacknowledged.containsKey(ino);
    }

    /** Whether the recall of this number, which there was, is not acknowledged yet. */
    boolean isOutstanding(long number) {
        Map.Entry<Long, Recall> oldest = unacknowledged.firstEntry();
        return oldest != null && number >= oldest.getValue().number();
    }
}
