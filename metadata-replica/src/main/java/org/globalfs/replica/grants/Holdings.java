package org.globalfs.replica.grants;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongConsumer;
import org.globalfs.replica.grants.Update.Demand;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who holds grants of what, until when, and what of that is asked back. A session whose lease has
 * ended holds nothing. Guarded by the table's lock; times are of System.nanoTime.
 */
final class Holdings {

    private static final Logger log = LoggerFactory.getLogger(Holdings.class);

    /** A session that holds more is asked to give its oldest grants back. */
    private static final int MAX_INODES_OF_SESSION = 100_000;

    private static final int SHED_AT_ONCE = 1_000;
    private static final int MAX_INODES = 1 << 20;

    /** What a session's grant of an inode that nobody else holds takes, rounded up. */
    private static final int BYTES_OF_GRANT = 250;

    private static final int PART_OF_HEAP = 4;

    /** From this part of what there may be on, some is asked back. */
    private static final int SPARE_PART = 16;

    private static final long WARN_EVERY_NS = 600_000_000_000L;
    private static final int MAX_SILENT = 1024;
    private static final long SILENCE_NS = 30_000_000_000L;

    private final Map<Long, Session> sessions = new HashMap<>();
    private final Map<Long, Set<Session>> holders = new HashMap<>();

    /** Sessions that took grants and never polled, until when they get none. */
    private final Map<Long, Long> silent =
            new LinkedHashMap<>() {
                @Override
                protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
                    return size() > MAX_SILENT;
                }
            };

    private final long firstNumber;
    private final long mostHeld;
    private final Runnable onRecall;
    private final Runnable onGiven;
    private final LongConsumer onEnd;
    private long lastNumber;

    /** How many grants there are, of each session and inode one. */
    private long held;

    /** The last recall of those that were to make room; null: there was none. */
    private @Nullable Demand shed;

    private long warnedNs;
    private boolean warned;

    /**
     * @param firstNumber recalls and leases are numbered above it
     * @param mostHeld how many grants there may be, of each session and inode one
     * @param onRecall a session has something to give back
     * @param onGiven grants were given back, or have run out
     * @param onEnd a session's lease has ended
     */
    Holdings(
            long firstNumber,
            long mostHeld,
            Runnable onRecall,
            Runnable onGiven,
            LongConsumer onEnd) {
        this.firstNumber = firstNumber;
        this.mostHeld = mostHeld;
        this.lastNumber = firstNumber;
        this.onRecall = onRecall;
        this.onGiven = onGiven;
        this.onEnd = onEnd;
    }

    /** How many grants a heap of this size has room for. */
    static long mostHeld(long heapBytes) {
        return heapBytes / PART_OF_HEAP / BYTES_OF_GRANT;
    }

    boolean isEmpty() {
        return holders.isEmpty();
    }

    /**
     * Whether these can be granted too. When they cannot, or there is little room left, the session
     * that holds most is asked to give its oldest grants back.
     *
     * @param session null: it holds nothing yet
     */
    boolean hasRoom(@Nullable Session session, Collection<Long> inodes, long nowNs) {
        int more = 0;
        int newInodes = 0;
        for (long ino : inodes) {
            if (session == null || !session.granted.contains(ino)) {
                more++;
                newInodes += holders.containsKey(ino) ? 0 : 1;
            }
        }
        if (more == 0) {
            return true;
        }
        long heldThen = held + more;
        long inodesThen = holders.size() + (long) newInodes;
        if (heldThen > mostHeld - mostHeld / SPARE_PART
                || inodesThen > MAX_INODES - MAX_INODES / SPARE_PART) {
            makeRoom(nowNs);
        }
        boolean room = heldThen <= mostHeld && inodesThen <= MAX_INODES;
        if (!room) {
            warn(nowNs);
        }
        return room;
    }

    /** One session at a time: each grant that finds no room would ask another one else. */
    private void makeRoom(long nowNs) {
        if (shed != null && isOpen(shed, nowNs)) {
            return;
        }
        shed = null;
        Session most = null;
        for (Session session : List.copyOf(sessions.values())) {
            if (session.unacknowledged.isEmpty()
                    && !session.granted.isEmpty()
                    && (most == null || session.granted.size() > most.granted.size())
                    && !isOver(session, nowNs)) {
                most = session;
            }
        }
        if (most != null) {
            shed = new Demand(most, shed(most, nowNs));
        }
    }

    private void warn(long nowNs) {
        if (!warned || nowNs - warnedNs >= WARN_EVERY_NS) {
            warned = true;
            warnedNs = nowNs;
            log.warn(
                    "mounts hold {} grants, of {} inodes, and as many as there may be: they ask for"
                            + " more of what they read. A larger heap has room for more",
                    held,
                    holders.size());
        }
    }

    /** A session that holds something, or whose end nobody has noticed. */
    @Nullable Session session(long id) {
        return sessions.get(id);
    }

    /** The session if its lease runs; one whose lease ended is forgotten with all it held. */
    @Nullable Session current(long id, long nowNs) {
        Session session = sessions.get(id);
        return session == null || isOver(session, nowNs) ? null : session;
    }

    /** Whether the session took grants and was not heard of since, a moment ago. */
    boolean isSilent(long id, long nowNs) {
        Long untilNs = silent.get(id);
        return untilNs != null && nowNs - untilNs < 0;
    }

    /** It polls. */
    void heard(long id) {
        silent.remove(id);
    }

    /**
     * A new lease of a session that has none.
     *
     * @param clock the table's
     */
    Session begin(long id, long clock, long nowNs) {
        lastNumber++;
        Session session = new Session(id, lastNumber, clock);
        session.expiresNs = nowNs;
        sessions.put(id, session);
        return session;
    }

    void add(Session session, Collection<Long> inodes, long nowNs) {
        for (long ino : inodes) {
            if (session.granted.add(ino)) {
                holders.computeIfAbsent(ino, key -> new HashSet<>(2)).add(session);
                held++;
            }
        }
        if (session.granted.size() > MAX_INODES_OF_SESSION && session.unacknowledged.isEmpty()) {
            var _ = shed(session, nowNs);
        }
    }

    /**
     * Asks for a session's oldest grants, of which there are some; the number of the last recall.
     */
    private long shed(Session session, long nowNs) {
        long number = 0;
        for (long ino : session.granted.stream().limit(SHED_AT_ONCE).toList()) {
            number = recallNumber(session, ino, nowNs);
        }
        onRecall.run();
        return number;
    }

    /** Asks all but one session for their grants of these inodes; 0: all. */
    void recall(
            Collection<Long> inodes, long exceptSession, long nowNs, Collection<Demand> demands) {
        boolean any = false;
        for (long ino : inodes) {
            for (Session session : List.copyOf(holders.getOrDefault(ino, Set.of()))) {
                if (session.id != exceptSession) {
                    any |= recall(session, ino, nowNs, demands);
                }
            }
        }
        if (any) {
            onRecall.run();
        }
    }

    /** Asks one session, which is not told yet; false: its lease has ended. */
    boolean recall(Session session, long ino, long nowNs, Collection<Demand> demands) {
        if (isOver(session, nowNs)) {
            return false;
        }
        demands.add(new Demand(session, recallNumber(session, ino, nowNs)));
        return true;
    }

    private long recallNumber(Session session, long ino, long nowNs) {
        Session.Recall before = session.unacknowledged.get(ino);
        if (before != null) {
            return before.number();
        }
        lastNumber++;
        session.unacknowledged.put(ino, new Session.Recall(lastNumber, nowNs));
        return lastNumber;
    }

    /** Whether what was asked for is still to be given back. */
    boolean isOpen(Demand demand, long nowNs) {
        return demand.session().isOutstanding(demand.number()) && !isOver(demand.session(), nowNs);
    }

    /**
     * The session gives back what it was asked for up to a number.
     *
     * @param given gets what that was
     * @return whether that was anything
     */
    boolean giveBack(Session session, long acknowledged, LongConsumer given) {
        if (acknowledged <= firstNumber || acknowledged > lastNumber) {
            // Of this replica's life before a restart.
            return false;
        }
        boolean any = false;
        for (Map.Entry<Long, Session.Recall> first = session.unacknowledged.firstEntry();
                first != null && first.getValue().number() <= acknowledged;
                first = session.unacknowledged.firstEntry()) {
            long ino = first.getKey();
            session.unacknowledged.pollFirstEntry();
            session.granted.remove(ino);
            drop(session, ino);
            given.accept(ino);
            any = true;
        }
        if (any) {
            onGiven.run();
        }
        return any;
    }

    /** Sessions whose leases have ended hold nothing any more. */
    void expire(long nowNs) {
        List.copyOf(sessions.values()).forEach(session -> isOver(session, nowNs));
    }

    private boolean isOver(Session session, long nowNs) {
        boolean over = session.expired(nowNs);
        if (over) {
            forget(session, nowNs);
        }
        return over;
    }

    private void forget(Session session, long nowNs) {
        sessions.remove(session.id, session);
        for (long ino : session.granted) {
            drop(session, ino);
        }
        session.granted.clear();
        session.unacknowledged.clear();
        if (!session.polled) {
            silent.put(session.id, nowNs + SILENCE_NS);
        }
        onEnd.accept(session.id);
        onGiven.run();
    }

    private void drop(Session session, long ino) {
        Set<Session> holding = holders.get(ino);
        if (holding != null && holding.remove(session)) {
            held--;
            if (holding.isEmpty()) {
                holders.remove(ino);
            }
        }
    }
}
