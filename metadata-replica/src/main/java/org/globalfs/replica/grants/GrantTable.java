package org.globalfs.replica.grants;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.globalfs.replica.grants.Footprint.Name;
import org.globalfs.replica.grants.Update.Demand;
import org.jspecify.annotations.Nullable;

/**
 * The grants that one partition's coordinator has given.
 *
 * <p>A session that holds a grant of an inode may use what it knows of the inode's attributes,
 * content map and names without asking. Its lease bounds all its grants, and is itself bounded by
 * the coordinator's Paxos lease: nobody else can become coordinator, hence execute an update
 * without asking here, before every grant has ended.
 *
 * <p>Why nothing granted is ever stale. An update {@link #begin begins} before it is proposed: it
 * marks its inodes, and waits until every other session that holds one has given it back or its
 * lease has ended. It {@link #end ends} after its execution. A read takes a {@link #stamp} before
 * it looks at the state; a grant of what it saw is given only when no other session's update of the
 * inode is between begin and end, nor has ended since the stamp. A session's own updates don't
 * count: it orders their replies by version, and forgets what an update touched where it may not
 * keep the reply.
 *
 * <p>Between the execution of a session's own update and its answer's arrival, though, who reads
 * through that session by what it holds sees what was before. Nobody else may have seen the update
 * by then. So what a session holds of its update's inodes when that is executed is noted as {@link
 * Update#stale}, and kept until the session says that it has {@link #settled} the update; whoever
 * else has {@link #seen seen} one of those inodes gets no answer before all of that is given back.
 * A grant that a reply of before the execution would bring later is noted too, or is not given when
 * somebody has seen the update.
 *
 * <p>The holder of the lock never waits for anything but the condition. {@code time} is of
 * System.nanoTime.
 */
public final class GrantTable {

    private static final long NS_PER_MS = 1_000_000;

    /** A session that leaves more of its updates unsettled gets no extension of its lease. */
    private static final int MAX_UNSETTLED = 50_000;

    /** A session that leaves a recall unacknowledged for so long gets no extension of its lease. */
    private static final long PROMPT_NS = 300_000_000L;

    private final LongSupplier time;
    private final ReentrantLock lock = new ReentrantLock();

    /** A session has something to give back. */
    private final Condition recalled = lock.newCondition();

    /** Grants were given back, or have run out. */
    private final Condition given = lock.newCondition();

    /** Names are no longer being updated. */
    private final Condition freed = lock.newCondition();

    private final Holdings holdings;
    private final Map<Long, List<Update>> active = new HashMap<>();
    private final Set<Name> busyNames = new HashSet<>();
    private final RecentUpdates recent = new RecentUpdates();
    private final Unsettled unsettled = new Unsettled();

    private long clock;
    private volatile Runnable onGiven = () -> {};

    /** What has to be given back before something else than an update goes on. */
    public static final class Clearing {
        private final List<Demand> demands = new ArrayList<>();

        private Clearing() {}
    }

    /**
     * A session's lease, which all its grants end with.
     *
     * @param number greater than that of any lease that this table gave the session before and that
     *     has ended: a session that finds another number than it knows holds none of the old grants
     * @param ms how long it runs, from no later than when the session asked; 0: there is none, and
     *     nothing was granted
     */
    public record Lease(long number, int ms) {
        static final Lease NONE = new Lease(0, 0);
    }

    /**
     * @param recalled to be given back; number of the last one, or 0 when there are none
     */
    public record Recalls(long number, List<Long> recalled, Lease lease) {}

    /**
     * @param firstNumber recalls are numbered above it; far from those of any earlier table of this
     *     replica
     * @param heapBytes of which grants may take a quarter
     */
    public GrantTable(LongSupplier time, long firstNumber, long heapBytes) {
        this.time = time;
        this.holdings =
                new Holdings(
                        firstNumber,
                        Holdings.mostHeld(heapBytes),
                        recalled::signalAll,
                        given::signalAll,
                        unsettled::forget);
    }

    /** To be run, on any thread, whenever grants have been given back; must not wait. */
    public void onGiven(Runnable listener) {
        onGiven = listener;
    }

    /** To be taken before the state is read. */
    public long stamp() {
        lock.lock();
        try {
            return clock;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Grants all these inodes or none.
     *
     * @param maxLeaseMs what the coordinator's own lease allows from now on
     * @return the session's lease from now on
     */
    public Lease grant(long sessionId, Collection<Long> inodes, long stamp, long maxLeaseMs) {
        return grant(sessionId, inodes, stamp, maxLeaseMs, null);
    }

    private Lease grant(
            long sessionId,
            Collection<Long> inodes,
            long stamp,
            long maxLeaseMs,
            @Nullable Update answered) {
        lock.lock();
        try {
            long nowNs = time.getAsLong();
            if (maxLeaseMs <= 0 || inodes.isEmpty() || holdings.isSilent(sessionId, nowNs)) {
                return Lease.NONE;
            }
            Session session = holdings.current(sessionId, nowNs);
            if (session != null && !mayExtend(session, nowNs)
                    || !holdings.hasRoom(session, inodes, nowNs)) {
                return Lease.NONE;
            }
            Set<Update> missed = new HashSet<>();
            for (long ino : inodes) {
                if (recent.byOthers(ino, sessionId) > stamp
                        || updatedByOther(ino, sessionId)
                        || session != null && session.isRecalled(ino)
                        || isUnknown(ino, sessionId, session, stamp)
                        || !mayMiss(ino, sessionId, stamp, answered, missed)) {
                    return Lease.NONE;
                }
            }
            for (Update update : missed) {
                inodes.stream().filter(update.inodes::contains).forEach(update.stale::add);
            }
            if (session == null) {
                session = holdings.begin(sessionId, clock, nowNs);
            }
            holdings.add(session, inodes, nowNs);
            extend(session, nowNs, maxLeaseMs);
            return new Lease(session.lease, (int) maxLeaseMs);
        } finally {
            lock.unlock();
        }
    }

    private boolean updatedByOther(long ino, long session) {
        List<Update> updates = active.get(ino);
        if (updates != null) {
            for (Update update : updates) {
                if (update.session != session) {
                    return true;
                }
            }
        }
        return false;
    }

    /**
     * Adds the session's own updates that what is to be granted may not show; false: it must not be
     * granted, because others have seen one of them.
     */
    private boolean mayMiss(
            long ino, long session, long stamp, @Nullable Update answered, Set<Update> missed) {
        for (Update update : own(ino, session, stamp)) {
            if (update != answered) {
                if (update.seen) {
                    return false;
                }
                missed.add(update);
            }
        }
        return true;
    }

    /** Whether the session's own updates since then may not have been kept. */
    private boolean isUnknown(long ino, long id, @Nullable Session session, long stamp) {
        return recent.by(ino, id) > stamp && (session == null || session.begunAt > stamp);
    }

    /** The session's own updates of the inode that are being executed, or ended since then. */
    private List<Update> own(long ino, long session, long stamp) {
        List<Update> result = new ArrayList<>(unsettled.after(ino, session, stamp));
        for (Update update : active.getOrDefault(ino, List.of())) {
            if (update.session == session) {
                result.add(update);
            }
        }
        return result;
    }

    private boolean mayExtend(Session session, long nowNs) {
        Map.Entry<Long, Session.Recall> oldest = session.unacknowledged.firstEntry();
        boolean prompt = oldest == null || nowNs - oldest.getValue().atNs() < PROMPT_NS;
        return prompt && unsettled.count(session.id) <= MAX_UNSETTLED;
    }

    private static void extend(Session session, long nowNs, long leaseMs) {
        long untilNs = nowNs + leaseMs * NS_PER_MS;
        if (untilNs - session.expiresNs > 0) {
            session.expiresNs = untilNs;
        }
    }

    /**
     * Begins an update: waits until no other update works on the same names, marks what it changes
     * and recalls others' grants. To be followed by {@link #awaitRecalled} and, in any case, {@link
     * #end}.
     *
     * @param sequence the session's number of the update, the same for every attempt
     * @param child inode that a name points to in this partition's executed state; 0: none
     * @return null: the names stayed busy until the deadline
     */
    public @Nullable Update begin(
            long session,
            long sequence,
            Footprint footprint,
            ToLongFunction<Name> child,
            long deadlineNs)
            throws InterruptedException {
        List<Name> names = footprint.names().stream().distinct().toList();
        lock.lockInterruptibly();
        try {
            while (!names.isEmpty() && names.stream().anyMatch(busyNames::contains)) {
                long leftNs = deadlineNs - time.getAsLong();
                if (leftNs <= 0) {
                    return null;
                }
                var _ = freed.awaitNanos(leftNs);
            }
            busyNames.addAll(names);
        } finally {
            lock.unlock();
        }
        Update update = new Update(session, sequence, names);
        boolean looked = false;
        try {
            update.inodes.addAll(footprint.inodes());
            for (Name name : names) {
                long ino = child.applyAsLong(name);
                if (ino != 0) {
                    update.inodes.add(ino);
                }
            }
            looked = true;
        } finally {
            if (!looked) {
                withdraw(update);
            }
        }
        lock.lock();
        try {
            update.stamp = clock;
            for (long ino : update.inodes) {
                active.computeIfAbsent(ino, key -> new ArrayList<>(1)).add(update);
            }
            holdings.recall(update.inodes, session, time.getAsLong(), update.demands);
        } finally {
            lock.unlock();
        }
        return update;
    }

    /**
     * Waits until every grant that the update recalled is given back or has run out; false: the
     * deadline passed first.
     */
    public boolean awaitRecalled(Update update, long deadlineNs) throws InterruptedException {
        boolean recalled = awaitGiven(update.demands, deadlineNs);
        update.admitted |= recalled;
        return recalled;
    }

    /** As {@link #awaitRecalled(Update, long)}. */
    public boolean awaitRecalled(Clearing clearing, long deadlineNs) throws InterruptedException {
        return awaitGiven(clearing.demands, deadlineNs);
    }

    private boolean awaitGiven(Collection<Demand> demands, long deadlineNs)
            throws InterruptedException {
        if (demands.isEmpty()) {
            return true;
        }
        lock.lockInterruptibly();
        try {
            while (true) {
                long nowNs = time.getAsLong();
                long wakeNs = deadlineNs;
                boolean open = false;
                for (Demand demand : demands) {
                    if (holdings.isOpen(demand, nowNs)) {
                        long endsNs = demand.session().expiresNs;
                        wakeNs = endsNs - wakeNs < 0 ? endsNs : wakeNs;
                        open = true;
                    }
                }
                if (!open) {
                    return true;
                }
                if (nowNs - deadlineNs >= 0) {
                    return false;
                }
                var _ = given.awaitNanos(wakeNs - nowNs);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * After the update was executed, and before anything is granted with its answer: notes what its
     * session may still believe, and takes back what other sessions may believe whose updates this
     * one's outcome can show ({@link #seen}), adding that to what {@link #awaitRecalled} waits for.
     *
     * @param changed false: it was refused
     */
    public void executed(Update update, boolean changed) {
        lock.lock();
        try {
            if (changed) {
                noteStale(update);
            } else {
                update.refused = true;
            }
            recallStale(update.session, update.inodes, update.demands, null);
        } finally {
            lock.unlock();
        }
    }

    private void noteStale(Update update) {
        Session session = holdings.session(update.session);
        if (!update.executed && session != null) {
            update.inodes.stream().filter(session.granted::contains).forEach(update.stale::add);
        }
        update.executed = true;
    }

    /**
     * A session has been read these inodes, and is not answered yet: takes back what others may
     * still believe of anything that their own updates of them changed. After the state was looked
     * at.
     *
     * @param own gets the reader's own updates that what it believes may not show, although what it
     *     was read may
     */
    public Clearing seen(long reader, Collection<Long> inodes, Collection<Long> own) {
        Clearing clearing = new Clearing();
        lock.lock();
        try {
            recallStale(reader, inodes, clearing.demands, own);
        } finally {
            lock.unlock();
        }
        return clearing;
    }

    /**
     * @param own null: the reader's own updates don't matter
     */
    private void recallStale(
            long reader,
            Collection<Long> inodes,
            Collection<Demand> demands,
            @Nullable Collection<Long> own) {
        long nowNs = time.getAsLong();
        Set<Update> updates = new HashSet<>();
        for (long ino : inodes) {
            updates.addAll(active.getOrDefault(ino, List.of()));
            unsettled.forEach(ino, own == null ? reader : 0, updates::add);
        }
        Set<Demand> stale = new LinkedHashSet<>();
        for (Update update : updates) {
            boolean others = update.session != reader;
            if (!update.admitted || !others && own == null) {
                continue;
            }
            update.seen = true;
            Session session = holdings.session(update.session);
            if (session == null) {
                continue;
            }
            // What is being executed may have been.
            List<Long> old =
                    (update.executed ? update.stale : update.inodes)
                            .stream().filter(session.granted::contains).toList();
            if (others) {
                old.forEach(ino -> holdings.recall(session, ino, nowNs, stale));
            } else if (own != null && !old.isEmpty()) {
                own.add(update.sequence);
            }
        }
        if (!stale.isEmpty()) {
            demands.addAll(stale);
            recalled.signalAll();
        }
    }

    /**
     * What the answers to the session's updates of lower sequences, but these, say has reached all
     * who read through it.
     */
    public void settled(long session, long below, Collection<Long> except) {
        lock.lock();
        try {
            unsettled.settled(session, below, except);
        } finally {
            lock.unlock();
        }
    }

    /**
     * After the update was executed: takes back others' grants of what it turned out to touch
     * besides, adding them to what {@link #awaitRecalled} waits for.
     */
    public void touched(Update update, Collection<Long> inodes) {
        lock.lock();
        try {
            List<Long> further =
                    inodes.stream().filter(ino -> !update.inodes.contains(ino)).toList();
            for (long ino : further) {
                update.inodes.add(ino);
                active.computeIfAbsent(ino, key -> new ArrayList<>(1)).add(update);
            }
            holdings.recall(further, update.session, time.getAsLong(), update.demands);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Grants the updating session what its executed update answered; as {@link #grant}. Before
     * {@link #end}.
     */
    public Lease grantResult(Update update, Collection<Long> inodes, long maxLeaseMs) {
        return grant(update.session, inodes, update.stamp, maxLeaseMs, update);
    }

    /** Instead of {@link #end}: the update was not proposed. */
    public void withdraw(Update update) {
        lock.lock();
        try {
            update.refused = true;
            end(update);
        } finally {
            lock.unlock();
        }
    }

    /** The update was executed, or will never be. */
    public void end(Update update) {
        lock.lock();
        try {
            if (update.ended()) {
                return;
            }
            clock++;
            update.end(clock);
            if (!update.refused) {
                noteStale(update);
                keep(update);
            }
            for (long ino : update.inodes) {
                if (!update.refused) {
                    recent.record(ino, update.session, clock);
                }
                List<Update> updates = active.get(ino);
                if (updates != null && updates.remove(update) && updates.isEmpty()) {
                    active.remove(ino);
                }
            }
            if (!update.names.isEmpty()) {
                update.names.forEach(busyNames::remove);
                freed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Instead of {@link #executed} and {@link #end}: it was executed after the call that brought it
     * had ended, so its session may never hear of it. Its session's own grants are taken back too,
     * and what that was read before is not granted any more. Never waits.
     *
     * @param touched inodes that it changed, known of before or not
     */
    public void endUnheard(Update update, Collection<Long> touched) {
        lock.lock();
        try {
            if (update.ended()) {
                return;
            }
            update.inodes.addAll(touched);
            end(update);
            update.seen = true;
            holdings.recall(update.inodes, 0, time.getAsLong(), new ArrayList<>());
        } finally {
            lock.unlock();
        }
    }

    /** A session that holds nothing believes nothing, and says nothing of what it has settled. */
    private void keep(Update update) {
        if (holdings.session(update.session) != null) {
            unsettled.add(update);
        }
    }

    /**
     * Something else than a session's update changed these inodes: their grants are recalled,
     * without waiting.
     */
    public void changedFromOutside(Collection<Long> inodes) {
        var _ = clear(0, 0, inodes);
    }

    /**
     * Recalls all grants of these inodes, without waiting. What was read before is granted to
     * nobody any more; that later reads are not granted either is the caller's business.
     *
     * @param exceptSession whose own update is the reason: its grants are only noted, as {@link
     *     #executed} does; 0: nobody's is
     * @param sequence of that update
     */
    public Clearing clear(long exceptSession, long sequence, Collection<Long> inodes) {
        Clearing clearing = new Clearing();
        lock.lock();
        try {
            clock++;
            for (long ino : inodes) {
                recent.record(ino, 0, clock);
            }
            holdings.recall(inodes, exceptSession, time.getAsLong(), clearing.demands);
            if (exceptSession != 0) {
                Update update = new Update(exceptSession, sequence, List.of());
                update.inodes.addAll(inodes);
                update.admitted = true;
                update.end(clock);
                noteStale(update);
                keep(update);
            }
        } finally {
            lock.unlock();
        }
        return clearing;
    }

    /** Whether all that was to be given back is, or has run out. Never waits. */
    public boolean isClear(Clearing clearing) {
        lock.lock();
        try {
            long nowNs = time.getAsLong();
            boolean clear = true;
            for (Demand demand : clearing.demands) {
                clear &= !holdings.isOpen(demand, nowNs);
            }
            return clear;
        } finally {
            lock.unlock();
        }
    }

    /**
     * A session's poll: takes its acknowledgement, then waits for something to recall. The lease in
     * the answer is counted from the beginning of this call: a thread that stands still before the
     * answer is sent must not make it longer than it is here.
     *
     * @param maxLeaseMs what the coordinator's own lease allows, asked when the answer is made
     */
    public Recalls poll(long sessionId, long acknowledged, LongSupplier maxLeaseMs, long deadlineNs)
            throws InterruptedException {
        long askedNs = time.getAsLong();
        if (acknowledge(sessionId, acknowledged)) {
            onGiven.run();
        }
        lock.lockInterruptibly();
        try {
            while (true) {
                long nowNs = time.getAsLong();
                Session session = holdings.current(sessionId, nowNs);
                boolean recalls = session != null && !session.unacknowledged.isEmpty();
                if (recalls || nowNs - deadlineNs >= 0) {
                    return answer(session, askedNs, nowNs, maxLeaseMs.getAsLong());
                }
                var _ = recalled.awaitNanos(deadlineNs - nowNs);
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean acknowledge(long sessionId, long acknowledged) {
        lock.lock();
        try {
            holdings.heard(sessionId);
            Session session = holdings.current(sessionId, time.getAsLong());
            if (session == null) {
                return false;
            }
            session.polled = true;
            return holdings.giveBack(session, acknowledged, ino -> unsettled.given(sessionId, ino));
        } finally {
            lock.unlock();
        }
    }

    private Recalls answer(@Nullable Session session, long askedNs, long nowNs, long maxLeaseMs) {
        if (session == null) {
            return new Recalls(0, List.of(), Lease.NONE);
        }
        Lease lease = Lease.NONE;
        if (maxLeaseMs > 0 && mayExtend(session, nowNs)) {
            extend(session, nowNs, maxLeaseMs);
            // A grant's thread may have stood still before it extended the lease: then it is longer
            // here than the coordinator's own.
            long toldUntilNs = Math.min(session.expiresNs, nowNs + maxLeaseMs * NS_PER_MS);
            lease = new Lease(session.lease, (int) ((toldUntilNs - askedNs) / NS_PER_MS));
        }
        Map.Entry<Long, Session.Recall> last = session.unacknowledged.lastEntry();
        return new Recalls(
                last == null ? 0 : last.getValue().number(),
                List.copyOf(session.unacknowledged.keySet()),
                lease);
    }

    /** To be called now and then: sessions whose leases have ended hold nothing any more. */
    public void expire() {
        lock.lock();
        try {
            holdings.expire(time.getAsLong());
        } finally {
            lock.unlock();
        }
    }

    /** Whether anybody holds anything. */
    public boolean isEmpty() {
        lock.lock();
        try {
            return holdings.isEmpty();
        } finally {
            lock.unlock();
        }
    }
}
