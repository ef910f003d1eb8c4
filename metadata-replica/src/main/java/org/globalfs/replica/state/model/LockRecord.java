package org.globalfs.replica.state.model;

import org.globalfs.protocol.wire.FileLock;
import org.globalfs.protocol.wire.LockKind;
import org.globalfs.protocol.wire.LockType;
import org.jspecify.annotations.Nullable;

/**
 * A row of {@link Table#FILE_LOCK}, whose key is the inode and a number that rises.
 *
 * @param request the session's number of a request that waits or waited; else 0
 */
public record LockRecord(
        State state,
        LockKind kind,
        LockType type,
        long session,
        long owner,
        int pid,
        long start,
        long end,
        long request) {

    private static final int FORMAT = 1;

    /** What a row says. */
    public enum State {
        HELD(0),
        WAITING(1),
        /** A request that waited was granted, and the session may not know yet. */
        GRANTED(2),
        /**
         * The session's lease ended while it held locks of the inode: it may not change the content
         * until it knows.
         */
        FENCE(3);

        private final int code;

        State(int code) {
            this.code = code;
        }

        static @Nullable State of(int code) {
            for (State state : values()) {
                if (state.code == code) {
                    return state;
                }
            }
            return null;
        }
    }

    public static LockRecord of(State state, long session, FileLock lock, long request) {
        return new LockRecord(
                state,
                lock.getKind(),
                lock.getType(),
                session,
                lock.getOwner(),
                lock.getPid(),
                lock.getFirst(),
                lock.getLast(),
                request);
    }

    public static LockRecord fence(long session) {
        return new LockRecord(State.FENCE, LockKind.POSIX, LockType.WRITE, session, 0, 0, 0, 0, 0);
    }

    public LockRecord with(State other) {
        return new LockRecord(other, kind, type, session, owner, pid, start, end, request);
    }

    public LockRecord within(long from, long to) {
        return new LockRecord(state, kind, type, session, owner, pid, from, to, request);
    }

    public boolean is(State asked) {
        return state == asked;
    }

    public boolean sameOwner(LockRecord other) {
        return kind == other.kind && session == other.session && owner == other.owner;
    }

    public boolean overlaps(LockRecord other) {
        return start <= other.end && other.start <= end;
    }

    /** Whether the two cannot be held at the same time. */
    public boolean conflicts(LockRecord other) {
        return kind == other.kind
                && (type == LockType.WRITE || other.type == LockType.WRITE)
                && overlaps(other)
                && !sameOwner(other);
    }

    public FileLock toWire() {
        return new FileLock(owner, pid, kind, type, start, end).setSession(session);
    }

    public byte[] encode() {
        return new Packer(56)
                .u8(FORMAT)
                .u8(state.code)
                .u8(kind.getValue())
                .u8(type.getValue())
                .i64(session)
                .i64(owner)
                .unsigned(pid)
                .varint(start)
                .varint(end)
                .varint(request)
                .done();
    }

    public static LockRecord decode(byte[] value) {
        Unpacker in = new Unpacker(value).version(FORMAT, "lock");
        State state = State.of(in.u8());
        LockKind kind = LockKind.findByValue(in.u8());
        LockType type = LockType.findByValue(in.u8());
        if (state == null || kind == null || type == null) {
            throw new CorruptRecordException("lock record of unknown kind");
        }
        return new LockRecord(
                state,
                kind,
                type,
                in.i64(),
                in.i64(),
                in.varint32(),
                in.varint(),
                in.varint(),
                in.varint());
    }
}
