package org.globalfs.multicast.wire;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.core.Ballot;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.log.LogException;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.log.StoredRecord;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/** Turns what the core wants persisted into records of the log, and back. */
public final class LogCodec {
    private static final int ROUND_BITS = 32;

    private final ByteBuffer scratch = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);

    /** Order-preserving form of a ballot in one number. */
    public static long pack(Ballot ballot) {
        Invariant.check(
                ballot.node() >= 0
                        && ballot.node() <= 0xffff
                        && ballot.round() >= 0
                        && ballot.round() < 1L << ROUND_BITS
                        && ballot.generation() >= 0
                        && ballot.generation() <= Membership.MAX_GENERATION,
                "ballot %s out of range",
                ballot);
        return (long) ballot.generation() << 48 | ballot.round() << 16 | ballot.node();
    }

    public static Ballot unpack(long packed) {
        return new Ballot(
                (int) (packed >>> 48),
                packed >>> 16 & (1L << ROUND_BITS) - 1,
                (int) (packed & 0xffff));
    }

    public void append(MulticastLog log, int ring, LogRecord record) {
        switch (record) {
            case LogRecord.Promised r ->
                    log.append(ring, StoredRecord.PROMISED, pack(r.ballot()), 0, empty());
            case LogRecord.Accepted r ->
                    append(
                            log,
                            ring,
                            StoredRecord.ACCEPTED,
                            pack(r.ballot()),
                            r.instance(),
                            r.batch());
            case LogRecord.Opened r ->
                    log.append(ring, StoredRecord.OPENED, pack(r.ballot()), r.base(), empty());
            case LogRecord.Chosen r ->
                    append(log, ring, StoredRecord.CHOSEN, 0, r.instance(), r.batch());
            case LogRecord.DecidedThrough r ->
                    log.append(
                            ring,
                            StoredRecord.DECIDED_THROUGH,
                            0,
                            r.instance(),
                            encoded(r.lastTimestamp()));
            case LogRecord.StartAfter r ->
                    log.append(
                            ring,
                            StoredRecord.START_AFTER,
                            0,
                            r.instance(),
                            encoded(r.lastTimestamp(), r.membership()));
            case LogRecord.VotesLost r ->
                    log.append(ring, StoredRecord.VOTES_LOST, 0, r.incident(), empty());
            case LogRecord.Members r ->
                    log.append(
                            ring,
                            StoredRecord.MEMBERS,
                            0,
                            r.instance(),
                            encoded(buffer -> {}, r.membership()));
        }
    }

    private ByteBuffer empty() {
        return scratch.clear().limit(0);
    }

    private ByteBuffer encoded(long timestamp) {
        return scratch.clear().putLong(timestamp).flip();
    }

    private static void append(
            MulticastLog log, int ring, int kind, long ballot, long instance, Batch batch) {
        log.appendInstance(
                ring,
                kind,
                ballot,
                instance,
                BatchCodec.sizeBound(batch),
                to -> BatchCodec.encode(batch, to));
    }

    private ByteBuffer encoded(long timestamp, @Nullable Membership membership) {
        return membership == null
                ? encoded(timestamp)
                : encoded(buffer -> buffer.putLong(timestamp), membership);
    }

    /** Rare, and kept by the log: a buffer of its own. */
    private static ByteBuffer encoded(Consumer<ByteBuffer> head, Membership membership) {
        Batch batch = Batch.of(new Entry.Members(membership));
        ByteBuffer to =
                ByteBuffer.allocate(8 + BatchCodec.sizeBound(batch)).order(ByteOrder.LITTLE_ENDIAN);
        head.accept(to);
        BatchCodec.encode(batch, to);
        return to.flip();
    }

    /** The batch in an instance's record. */
    public static Batch batch(StoredRecord record) {
        try {
            return BatchCodec.decode(
                    ByteBuffer.wrap(record.payload()).order(ByteOrder.LITTLE_ENDIAN));
        } catch (WireException | BufferUnderflowException e) {
            throw unreadable(record, e);
        }
    }

    /** The membership in a record that has one. */
    public static Membership membership(StoredRecord record) {
        Membership membership = batch(record).membership();
        if (membership == null) {
            throw unreadable(record, new WireException("no membership"));
        }
        return membership;
    }

    /** The membership in a {@link StoredRecord#START_AFTER}, if it has one. */
    public static @Nullable Membership startMembership(StoredRecord record) {
        ByteBuffer payload = ByteBuffer.wrap(record.payload()).order(ByteOrder.LITTLE_ENDIAN);
        if (payload.remaining() <= 8) {
            return null;
        }
        try {
            return BatchCodec.decode(payload.position(8)).membership();
        } catch (WireException | BufferUnderflowException e) {
            throw unreadable(record, e);
        }
    }

    /** The timestamp in a record that has one. */
    public static long timestamp(StoredRecord record) {
        try {
            return ByteBuffer.wrap(record.payload()).order(ByteOrder.LITTLE_ENDIAN).getLong();
        } catch (BufferUnderflowException e) {
            throw unreadable(record, e);
        }
    }

    private static RuntimeException unreadable(StoredRecord record, Exception cause) {
        return new LogException(
                LogException.Reason.CORRUPT,
                "the record of instance "
                        + record.instance()
                        + " of ring "
                        + record.ring()
                        + " makes no sense",
                cause);
    }
}
