package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.apache.thrift.TException;
import org.globalfs.protocol.wire.RenewSessionOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.CorruptRecordException;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Limits;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;
import org.jspecify.annotations.Nullable;

/**
 * Who has sent what, so that a command takes effect once: per session the replies that it has not
 * yet said to have received, the inodes it holds open, and its lease. The whole table is in memory;
 * {@link Table#SESSION} is its stored form.
 *
 * <p>A reply's row carries the session's {@code answeredBelow} and time at its recording. The
 * highest of these over the rows are the session's current ones: the row that brought the highest
 * {@code answeredBelow} can only be forgotten by one that brings a higher.
 */
public final class Sessions {

    /** The lease of a session that does not say how long. */
    private static final int DEFAULT_LEASE_MS = 60_000;

    private static final long NS_PER_MS = 1_000_000;

    private static final long HOUR_NS = 3600 * 1_000_000_000L;

    /** A session is forgotten when nothing came from it for this long. */
    static final long EXPIRY_NS = 24 * HOUR_NS;

    /**
     * One that had a lease and did not end is a mount: it may have been cut off or suspended, and
     * come back with commands of before and locks that it has lost. So it is remembered for longer.
     */
    static final long LEASED_EXPIRY_NS = 30 * 24 * HOUR_NS;

    private static final int FORMAT = 1;

    /** Of the row that a renewal writes; before leases it had format 1. */
    private static final int RENEWAL_FORMAT = 2;

    private static final int ENDED = 1;
    private static final int LAPSED = 2;
    private static final int KEY_WITH_SEQUENCE = 16;

    private final MutableRecords records;
    private final Map<Long, Session> sessions = new TreeMap<>();
    private @Nullable List<Lease> leases;

    /** A lease that runs until {@code leaseMs} after that renewal, unless there is another. */
    public record Lease(long session, long renewedNs, int leaseMs) {}

    /** What is known of one session. */
    private static final class Session {
        final TreeMap<Long, byte[]> replies = new TreeMap<>();
        final Set<Long> pending = new HashSet<>();
        long answeredBelow;
        long seenNs;
        boolean ended;
        boolean lapsed;
        long lapses;
        int leaseMs = DEFAULT_LEASE_MS;
        long renewedNs;
        Set<Long> open = Set.of();
    }

    /** How a command stands. */
    enum Standing {
        NEW,
        /** Part of a coordinated operation that is not decided yet. */
        PENDING,
        /** Executed and answered before; the client said that it has the reply. */
        FORGOTTEN,
        RECORDED
    }

    Sessions(MutableRecords records) {
        this.records = records;
        records.scan(
                Table.SESSION,
                Keys.none(),
                Keys.none(),
                (key, value) -> {
                    load(session(Keys.getLong(key, 0)), key, value);
                    return true;
                });
    }

    private static void load(Session session, byte[] key, byte[] value) {
        boolean renewal = key.length != KEY_WITH_SEQUENCE;
        boolean leased = renewal && new Unpacker(value).u8() != FORMAT;
        Unpacker in = new Unpacker(value).version(leased ? RENEWAL_FORMAT : FORMAT, "session");
        long seenNs = in.i64();
        session.seenNs = Math.max(session.seenNs, seenNs);
        if (!renewal) {
            session.answeredBelow = Math.max(session.answeredBelow, in.varint());
            session.replies.put(Keys.getLong(key, 8), in.rest());
            return;
        }
        session.renewedNs = seenNs;
        int flags = in.u8();
        session.ended = (flags & ENDED) != 0;
        session.lapsed = (flags & LAPSED) != 0;
        if (leased) {
            session.leaseMs = in.varint32();
            session.lapses = in.varint();
        }
        Set<Long> open = new HashSet<>();
        for (long left = in.varint(); left > 0; left--) {
            open.add(in.i64());
        }
        session.open = open;
        if (in.remaining() > 0) {
            throw new CorruptRecordException("session record is too long");
        }
    }

    private Session session(long id) {
        return sessions.computeIfAbsent(id, key -> new Session());
    }

    int count() {
        return sessions.size();
    }

    Standing standing(long id, long sequence) {
        Session session = sessions.get(id);
        if (session == null) {
            return Standing.NEW;
        }
        if (session.replies.containsKey(sequence)) {
            return Standing.RECORDED;
        }
        if (session.ended || sequence < session.answeredBelow) {
            return Standing.FORGOTTEN;
        }
        return session.pending.contains(sequence) ? Standing.PENDING : Standing.NEW;
    }

    /** A fresh copy of the reply of a command that stands as RECORDED. */
    UpdateReply recorded(long id, long sequence) {
        Session session = Objects.requireNonNull(sessions.get(id));
        try {
            return Wire.decode(
                    new UpdateReply(), Objects.requireNonNull(session.replies.get(sequence)));
        } catch (TException e) {
            throw new CorruptRecordException(
                    "reply " + sequence + " of session " + id + " cannot be read: " + e);
        }
    }

    void begin(long id, long sequence) {
        session(id).pending.add(sequence);
    }

    void end(long id, long sequence) {
        session(id).pending.remove(sequence);
    }

    /** Keeps a reply until the session says that it has it. */
    void record(long id, long sequence, long answeredBelow, long nowNs, UpdateReply reply) {
        Session session = session(id);
        session.seenNs = Math.max(session.seenNs, nowNs);
        session.answeredBelow = Math.max(session.answeredBelow, Math.min(answeredBelow, sequence));
        byte[] wire = Wire.encode(reply);
        session.replies.put(sequence, wire);
        byte[] value =
                new Packer(20 + wire.length)
                        .u8(FORMAT)
                        .i64(nowNs)
                        .varint(session.answeredBelow)
                        .raw(wire, 0, wire.length)
                        .done();
        records.put(Table.SESSION, Keys.of(id, sequence), value);
        while (session.replies.firstKey() < session.answeredBelow) {
            records.delete(Table.SESSION, Keys.of(id, session.replies.pollFirstEntry().getKey()));
        }
    }

    /**
     * The session lives and holds these inodes open; ended: it never will again. Returns how often
     * its lease has run out.
     */
    long renew(long id, RenewSessionOp op, long nowNs) {
        Session session = session(id);
        session.seenNs = nowNs;
        session.renewedNs = nowNs;
        session.ended |= op.isEnded();
        session.lapsed = false;
        session.leaseMs =
                op.isSetLeaseMs()
                        ? Math.clamp(op.getLeaseMs(), 1, Limits.LEASE_MAX_MS)
                        : DEFAULT_LEASE_MS;
        session.open = session.ended ? Set.of() : new HashSet<>(op.getOpenInodes());
        store(id, session);
        return session.lapses;
    }

    private void store(long id, Session session) {
        leases = null;
        Packer out = new Packer(32 + 8 * session.open.size());
        out.u8(RENEWAL_FORMAT)
                .i64(session.renewedNs)
                .u8((session.ended ? ENDED : 0) | (session.lapsed ? LAPSED : 0))
                .varint(session.leaseMs)
                .varint(session.lapses)
                .varint(session.open.size());
        session.open.stream().sorted().forEach(out::i64);
        records.put(Table.SESSION, Keys.of(id), out.done());
    }

    /** Whether the session has renewed its lease and nobody has found it run out since. */
    boolean isLeased(long id) {
        Session session = sessions.get(id);
        return session != null && session.renewedNs != 0 && !session.lapsed && !session.ended;
    }

    /**
     * The session's lease has run out, if that was its last renewal: it claims nothing until it
     * renews. False: there was another.
     */
    boolean lapse(long id, long renewedNs) {
        Session session = sessions.get(id);
        if (session == null || !isLeased(id) || session.renewedNs != renewedNs) {
            return false;
        }
        session.lapsed = true;
        session.lapses++;
        session.open = Set.of();
        store(id, session);
        return true;
    }

    /** The leases that run; the same list until one changes. */
    List<Lease> leases() {
        List<Lease> known = leases;
        if (known == null) {
            List<Lease> found = new ArrayList<>();
            sessions.forEach((id, session) -> {
                if (isLeased(id)) {
                    found.add(new Lease(id, session.renewedNs, session.leaseMs));
                }
            });
            known = List.copyOf(found);
            leases = known;
        }
        return known;
    }

    /** Inodes that sessions with a lease hold open. */
    Set<Long> claims() {
        Set<Long> claims = new HashSet<>();
        for (Session session : sessions.values()) {
            claims.addAll(session.open);
        }
        return claims;
    }

    /** Those of sessions whose leases run by commands' times. */
    Set<Long> claims(long nowNs) {
        Set<Long> claims = new HashSet<>();
        for (Session session : sessions.values()) {
            // Twice the lease: it is the coordinator that finds out, and that may be a new one.
            if (nowNs - session.renewedNs <= 2 * NS_PER_MS * session.leaseMs) {
                claims.addAll(session.open);
            }
        }
        return claims;
    }

    /**
     * The time to measure silence by, asked every hour or so. Commands' times jump with a
     * coordinator's clock: this one comes after them by no more than two hours at a time, so that a
     * clock that was wrong once makes nobody old. Before the oldest session it need not be.
     *
     * @param beforeNs what it was the last time; 0: there was none
     */
    long silenceTime(long beforeNs, long nowNs) {
        long oldestNs = nowNs;
        for (Session session : sessions.values()) {
            // One that has only begun something is in no record yet, nor in other replicas'.
            oldestNs = session.seenNs == 0 ? oldestNs : Math.min(oldestNs, session.seenNs);
        }
        return Math.min(nowNs, Math.max(beforeNs, oldestNs) + 2 * HOUR_NS);
    }

    /**
     * Forgets sessions that were silent for too long; returns which.
     *
     * @param nowNs what their silence is measured by
     * @param sparing those with a lease, however long the time seems; and those that had one are
     *     kept for longer
     */
    List<Long> expire(long nowNs, boolean sparing) {
        List<Long> forgotten = new ArrayList<>();
        sessions.entrySet()
                .removeIf(entry -> {
                    Session session = entry.getValue();
                    boolean isMount = session.renewedNs != 0 && !session.ended;
                    long keptNs = sparing && isMount ? LEASED_EXPIRY_NS : EXPIRY_NS;
                    boolean silent =
                            nowNs - session.seenNs > keptNs
                                    && session.pending.isEmpty()
                                    && !(sparing && isLeased(entry.getKey()));
                    if (silent) {
                        forgotten.add(entry.getKey());
                        records.delete(Table.SESSION, Keys.of(entry.getKey()));
                        session.replies
                                .keySet()
                                .forEach(sequence ->
                                        records.delete(
                                                Table.SESSION, Keys.of(entry.getKey(), sequence)));
                    }
                    return silent;
                });
        if (!forgotten.isEmpty()) {
            leases = null;
        }
        return forgotten;
    }
}
