package org.globalfs.replica.state.operations;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.FileLock;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockOp;
import org.globalfs.protocol.wire.LockState;
import org.globalfs.protocol.wire.LockType;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.LockRecord;
import org.globalfs.replica.state.model.LockRecord.State;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.operations.LockTable.Owner;
import org.globalfs.replica.state.operations.LockTable.Row;
import org.jspecify.annotations.Nullable;

/**
 * Locks of files, as fcntl(2) and flock(2) mean them, among the owners of all sessions.
 *
 * <p>As on Linux, a new request is refused or made to wait only by locks that are held, and one
 * that waits is granted by the command that frees its range, the first that came first. fcntl(2)
 * requests whose wait would close a circle of owners that wait for each other are refused; flock(2)
 * ones never are. A lock of flock(2) is converted as there: the old one is dropped before the new
 * one is asked for, and lost when that is refused.
 *
 * <p>What a wait came to stays in a row until the session says that it knows. A session whose lease
 * ends loses its locks and requests; of the inodes that it had locked it changes no content until
 * it has said that everything written under those locks is settled.
 */
final class FileLocks {

    /** Hears of requests that waited and do so no more. */
    @FunctionalInterface
    interface Outcomes {
        void decided(long session, long request, LockState state);
    }

    private final LockTable table;
    private final Tree tree;
    private final Outcomes outcomes;

    FileLocks(MutableRecords records, Tree tree, Outcomes outcomes) {
        this.table = new LockTable(records);
        this.tree = tree;
        this.outcomes = outcomes;
    }

    /**
     * @param leased the session's lease runs
     */
    UpdateReply execute(long session, boolean leased, LockOp op) {
        if (op.isSetKnown()) {
            known(session, op.getKnown());
        }
        if (!tree.isHere(op.getIno())) {
            return Replies.elsewhere(tree.homes(), op.getIno());
        }
        if (op.isSetCancel()) {
            return answer(cancel(session, op.getIno(), op.getCancel()));
        }
        FileLock lock = op.getLock();
        if (!valid(op, lock)) {
            return Replies.failed(Errno.EINVAL);
        }
        long ino = op.getIno();
        LockRecord wanted = LockRecord.of(State.HELD, session, lock, op.getRequest());
        if (wanted.type() == LockType.UNLOCK) {
            if (isLimitReached(session, ino) && splits(ino, wanted)) {
                return Replies.failed(Errno.ENOLCK);
            }
            List<LockRecord> dropped = new ArrayList<>();
            set(ino, wanted, dropped);
            settle(ino, dropped);
            return answer(LockState.GRANTED);
        }
        if (tree.inode(ino) == null) {
            return Replies.failed(Errno.ESTALE);
        }
        if (!leased || isLimitReached(session, ino)) {
            return Replies.failed(Errno.ENOLCK);
        }
        return acquire(ino, wanted, op.isSetRequest());
    }

    private boolean isLimitReached(long session, long ino) {
        return table.countOf(ino) >= Limits.LOCKS_OF_INODE
                || table.countOfSession(session) >= Limits.LOCKS_OF_SESSION;
    }

    /** Whether unlocking the range makes two locks of one. */
    private boolean splits(long ino, LockRecord unlocked) {
        for (LockRecord lock : table.held(ino)) {
            if (lock.sameOwner(unlocked)
                    && lock.start() < unlocked.start()
                    && lock.end() > unlocked.end()) {
                return true;
            }
        }
        return false;
    }

    private static boolean valid(LockOp op, FileLock lock) {
        return lock != null
                && lock.getFirst() >= 0
                && lock.getLast() >= lock.getFirst()
                && (!op.isSetRequest() || op.getRequest() > 0);
    }

    private static UpdateReply answer(LockState state) {
        return Replies.done().setLockState(state);
    }

    private UpdateReply acquire(long ino, LockRecord wanted, boolean wait) {
        List<LockRecord> dropped = new ArrayList<>();
        if (wanted.kind() == LockKind.FLOCK) {
            Row own = ownFlock(ino, wanted);
            if (own != null && own.lock().type() == wanted.type()) {
                return answer(LockState.GRANTED);
            }
            if (own != null) {
                table.remove(own);
                dropped.add(own.lock());
            }
        }
        UpdateReply reply = tryAcquire(ino, wanted, wait, dropped);
        settle(ino, dropped);
        return reply;
    }

    private UpdateReply tryAcquire(
            long ino, LockRecord wanted, boolean wait, List<LockRecord> dropped) {
        if (isFree(ino, wanted)) {
            set(ino, wanted, dropped);
            return answer(LockState.GRANTED);
        }
        if (!wait) {
            return Replies.failed(Errno.EAGAIN);
        }
        if (wanted.kind() == LockKind.POSIX && closesCircle(ino, wanted)) {
            return Replies.failed(Errno.EDEADLK);
        }
        table.add(ino, wanted.with(State.WAITING));
        return answer(LockState.WAITING);
    }

    private @Nullable Row ownFlock(long ino, LockRecord wanted) {
        for (Row row : table.heldOf(ino)) {
            if (row.lock().sameOwner(wanted)) {
                return row;
            }
        }
        return null;
    }

    private boolean isFree(long ino, LockRecord wanted) {
        return !hinders(table.held(ino), wanted);
    }

    /**
     * Whether somebody that the request would wait for waits, over however many others, for its
     * owner.
     */
    private boolean closesCircle(long ino, LockRecord wanted) {
        Owner asking = Owner.of(wanted);
        Set<Owner> seen = new HashSet<>();
        Deque<Owner> left = new ArrayDeque<>(holdersAgainst(ino, wanted));
        while (!left.isEmpty()) {
            Owner owner = left.removeFirst();
            if (owner.equals(asking)) {
                return true;
            }
            if (seen.add(owner)) {
                for (Row row : table.waitsOf(owner)) {
                    left.addAll(holdersAgainst(row.ino(), row.lock()));
                }
            }
        }
        return false;
    }

    private List<Owner> holdersAgainst(long ino, LockRecord wanted) {
        List<Owner> holders = new ArrayList<>();
        for (LockRecord lock : table.held(ino)) {
            if (lock.conflicts(wanted)) {
                holders.add(Owner.of(lock));
            }
        }
        return holders;
    }

    /**
     * Makes the range what is wanted for its owner: held as this type, or not at all.
     *
     * @param dropped gets the owner's former locks that are no more, or not as they were
     */
    private void set(long ino, LockRecord wanted, List<LockRecord> dropped) {
        long start = wanted.start();
        long end = wanted.end();
        for (Row row : table.heldOf(ino)) {
            LockRecord lock = row.lock();
            if (!lock.sameOwner(wanted)) {
                continue;
            }
            boolean joins =
                    lock.type() == wanted.type()
                            && (lock.end() == Long.MAX_VALUE || start <= lock.end() + 1)
                            && (end == Long.MAX_VALUE || lock.start() <= end + 1);
            if (joins) {
                if (lock.start() <= start && end <= lock.end()) {
                    return;
                }
                start = Math.min(start, lock.start());
                end = Math.max(end, lock.end());
                table.remove(row);
            } else if (lock.overlaps(wanted)) {
                table.remove(row);
                dropped.add(lock);
                if (lock.start() < wanted.start()) {
                    table.add(ino, lock.within(lock.start(), wanted.start() - 1));
                }
                if (lock.end() > wanted.end()) {
                    table.add(ino, lock.within(wanted.end() + 1, lock.end()));
                }
            }
        }
        if (wanted.type() != LockType.UNLOCK) {
            table.add(ino, wanted.within(start, end).with(State.HELD));
        }
    }

    /**
     * Grants what has become free, the first that came first. Between commands nobody waits for
     * what is free, so that only who was hindered by a lock that was dropped can get one.
     *
     * @param dropped locks that were held until now; what the grants themselves drop is added
     */
    private void settle(long ino, List<LockRecord> dropped) {
        int regarded = 0;
        while (regarded < dropped.size()) {
            regarded = dropped.size();
            for (Row row : table.of(ino)) {
                LockRecord lock = row.lock();
                if (lock.is(State.WAITING) && hinders(dropped, lock) && isFree(ino, lock)) {
                    table.remove(row);
                    set(ino, lock.with(State.HELD), dropped);
                    table.add(ino, lock.with(State.GRANTED));
                    outcomes.decided(lock.session(), lock.request(), LockState.GRANTED);
                }
            }
        }
    }

    private static boolean hinders(Collection<LockRecord> locks, LockRecord wanted) {
        for (LockRecord lock : locks) {
            if (lock.conflicts(wanted)) {
                return true;
            }
        }
        return false;
    }

    private LockState cancel(long session, long ino, long request) {
        for (Row row : table.of(ino)) {
            LockRecord lock = row.lock();
            if (lock.session() == session && lock.request() == request) {
                if (lock.is(State.WAITING)) {
                    table.remove(row);
                    outcomes.decided(session, request, LockState.GONE);
                    return LockState.GONE;
                }
                if (lock.is(State.GRANTED)) {
                    return LockState.GRANTED;
                }
            }
        }
        return LockState.GONE;
    }

    /** The session has learned what became of these requests. */
    void known(long session, List<Long> requests) {
        if (requests.isEmpty()) {
            return;
        }
        Set<Long> asked = new HashSet<>(requests);
        for (Row row : table.ofSession(session)) {
            if (row.lock().is(State.GRANTED) && asked.contains(row.lock().request())) {
                table.remove(row);
            }
        }
    }

    /** The session ended, or (fenced) its lease: nothing of it stays. */
    void drop(long session, boolean fenced) {
        TreeMap<Long, List<LockRecord>> dropped = new TreeMap<>();
        for (Row row : table.ofSession(session)) {
            if (fenced && row.lock().is(State.FENCE)) {
                continue;
            }
            table.remove(row);
            switch (row.lock().state()) {
                case HELD ->
                        dropped.computeIfAbsent(row.ino(), key -> new ArrayList<>())
                                .add(row.lock());
                case WAITING -> outcomes.decided(session, row.lock().request(), LockState.GONE);
                case GRANTED, FENCE -> {}
            }
        }
        if (fenced) {
            for (long ino : dropped.keySet()) {
                if (!isFenced(session, ino)) {
                    table.add(ino, LockRecord.fence(session));
                }
            }
        }
        dropped.forEach(this::settle);
    }

    /** Whether the session lost locks of the inode with its lease and has not settled that yet. */
    boolean isFenced(long session, long ino) {
        return table.fence(session, ino) != null;
    }

    void unfence(long session, List<Long> inodes) {
        for (long ino : inodes) {
            Row fence = table.fence(session, ino);
            if (fence != null) {
                table.remove(fence);
            }
        }
    }

    /** The inode is gone for good. */
    void forget(long ino) {
        table.fencesOf(ino).forEach(table::remove);
        for (Row row : table.of(ino)) {
            table.remove(row);
            if (row.lock().is(State.WAITING)) {
                outcomes.decided(row.lock().session(), row.lock().request(), LockState.GONE);
            }
        }
    }
}
