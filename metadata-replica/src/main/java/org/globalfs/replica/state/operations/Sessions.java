package org.globalfs.replica.state.operations;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.apache.thrift.TException;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.state.model.CorruptRecordException;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Packer;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Unpacker;

/**
 * Who has sent what, so that a command takes effect once: per session the replies that it has not
 * yet said to have received, and the inodes it holds open. The whole table is in memory; {@link
 * Table#SESSION} is its stored form.
 *
 * <p>A reply's row carries the session's {@code answeredBelow} and time at its recording. The
 * highest of these over the rows are the session's current ones: the row that brought the highest
 * {@code answeredBelow} can only be forgotten by one that brings a higher.
 */
final class Sessions {

    /** A session's claims count this long after it renewed them. */
    static final long CLAIM_NS = 120_000_000_000L;

    /** A session is forgotten when nothing came from it for this long. */
    static final long EXPIRY_NS = 24 * 3600 * 1_000_000_000L;

    private static final int FORMAT = 1;
    private static final int KEY_WITH_SEQUENCE = 16;

    private final MutableRecords records;
    private final Map<Long, Session> sessions = new TreeMap<>();

    /** What is known of one session. */
    private static final class Session {
        final TreeMap<Long, byte[]> replies = new TreeMap<>();
        final Set<Long> pending = new HashSet<>();
        long answeredBelow;
        long seenNs;
        boolean ended;
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
                    load(
                            session(Keys.getLong(key, 0)),
                            key,
                            new Unpacker(value).version(FORMAT, "session"));
                    return true;
                });
    }

    private static void load(Session session, byte[] key, Unpacker in) {
        long seenNs = in.i64();
        session.seenNs = Math.max(session.seenNs, seenNs);
        if (key.length == KEY_WITH_SEQUENCE) {
            session.answeredBelow = Math.max(session.answeredBelow, in.varint());
            session.replies.put(Keys.getLong(key, 8), in.rest());
            return;
        }
        session.renewedNs = seenNs;
        session.ended = in.u8() != 0;
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

    /** The session lives and holds these inodes open; ended: it never will again. */
    void renew(long id, List<Long> open, boolean ended, long nowNs) {
        Session session = session(id);
        session.seenNs = nowNs;
        session.renewedNs = nowNs;
        session.ended |= ended;
        session.open = session.ended ? Set.of() : new HashSet<>(open);
        Packer out = new Packer(24 + 8 * session.open.size());
        out.u8(FORMAT).i64(nowNs).u8(session.ended ? 1 : 0).varint(session.open.size());
        session.open.stream().sorted().forEach(out::i64);
        records.put(Table.SESSION, Keys.of(id), out.done());
    }

    /** Inodes that live sessions hold open. */
    Set<Long> claims(long nowNs) {
        Set<Long> claims = new HashSet<>();
        for (Session session : sessions.values()) {
            if (nowNs - session.renewedNs <= CLAIM_NS) {
                claims.addAll(session.open);
            }
        }
        return claims;
    }

    /** Forgets sessions that were silent for too long. */
    void expire(long nowNs) {
        sessions.entrySet()
                .removeIf(entry -> {
                    Session session = entry.getValue();
                    boolean silent =
                            nowNs - session.seenNs > EXPIRY_NS && session.pending.isEmpty();
                    if (silent) {
                        records.delete(Table.SESSION, Keys.of(entry.getKey()));
                        session.replies
                                .keySet()
                                .forEach(sequence ->
                                        records.delete(
                                                Table.SESSION, Keys.of(entry.getKey(), sequence)));
                    }
                    return silent;
                });
    }
}
