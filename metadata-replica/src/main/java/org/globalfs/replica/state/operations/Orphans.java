package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Inode;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Table;

/**
 * Collects inodes without a name that nobody holds open any more. What has lost a part of its
 * content is gone for all, also for sessions that lost their lease with it open and come back.
 */
final class Orphans {

    private static final long GRACE_NS = 60_000_000_000L;

    /** Extents freed in one command, so that no huge file stalls the partition. */
    private static final int EXTENTS_PER_COMMAND = 8192;

    private final Counters counters;
    private final MutableRecords records;
    private final Tree tree;
    private final Content content;
    private final Locks locks;
    private final Sessions sessions;
    private final FileLocks fileLocks;

    Orphans(
            Counters counters,
            MutableRecords records,
            Tree tree,
            Content content,
            Locks locks,
            Sessions sessions,
            FileLocks fileLocks) {
        this.counters = counters;
        this.records = records;
        this.tree = tree;
        this.content = content;
        this.locks = locks;
        this.sessions = sessions;
        this.fileLocks = fileLocks;
    }

    /**
     * Ends leases.
     *
     * @param lapsed sessions whose leases have run out, with the time of their last renewal
     */
    void lapse(Map<Long, Long> lapsed) {
        new TreeMap<>(lapsed)
                .forEach((session, renewedNs) -> {
                    if (sessions.lapse(session, renewedNs)) {
                        fileLocks.drop(session, true);
                    }
                });
    }

    /** Forgets sessions that were silent for too long; to be done every hour. */
    void forgetSessions(long nowNs) {
        counters.sessionsNs = sessions.silenceTime(counters.sessionsNs, nowNs);
        drop(sessions.expire(counters.sessionsNs, true));
    }

    /** The same as replicas did it once. */
    void forgetSessionsByTime(long nowNs) {
        drop(sessions.expire(nowNs, true));
    }

    /**
     * Collects orphans that no leased session claims.
     *
     * @param first inode of the first one that is looked at
     * @param last inode of the last one
     * @param beforeNs only those that have been orphans since before this time
     */
    void collect(int limit, long first, long last, long beforeNs) {
        if (beforeNs > Long.MIN_VALUE) {
            collect(limit, sessions.claims(), first, last, beforeNs);
        }
    }

    /** The same as replicas did it once: also the command's time tells which leases run. */
    void collectByTime(int limit, long nowNs) {
        drop(sessions.expire(nowNs, false));
        collect(limit, sessions.claims(nowNs), 0, Long.MAX_VALUE, nowNs - GRACE_NS + 1);
    }

    private void drop(List<Long> forgotten) {
        forgotten.forEach(session -> fileLocks.drop(session, false));
    }

    private void collect(int limit, Set<Long> claims, long first, long last, long beforeNs) {
        List<Long> due = new ArrayList<>();
        records.scan(
                Table.ORPHAN,
                Keys.none(),
                Keys.of(first),
                (key, value) -> {
                    long ino = Keys.getLong(key, 0);
                    if (ino > last) {
                        return false;
                    }
                    long sinceNs = Tree.orphanedAtNs(value);
                    boolean isDue =
                            sinceNs == Tree.BEING_COLLECTED
                                    || sinceNs < beforeNs && !claims.contains(ino);
                    if (isDue && !locks.inode(ino)) {
                        due.add(ino);
                    }
                    return due.size() < limit;
                });
        int budget = EXTENTS_PER_COMMAND;
        for (long ino : due) {
            Inode inode = tree.existing(ino);
            long before = inode.extents;
            if (!content.erode(inode, budget)) {
                tree.store(inode);
                tree.beginCollecting(ino);
                return;
            }
            budget -= (int) before;
            tree.unorphan(ino);
            fileLocks.forget(ino);
            tree.forget(inode);
        }
    }
}
