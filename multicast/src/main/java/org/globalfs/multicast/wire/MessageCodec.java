package org.globalfs.multicast.wire;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.core.AcceptedValue;
import org.globalfs.multicast.core.Ballot;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.Message;

/** Byte form of the messages of a ring; docs/formats/multicast-wire.md has the table. */
public final class MessageCodec {
    private static final int PRE_VOTE = 1;
    private static final int PRE_VOTE_REPLY = 2;
    private static final int PREPARE = 3;
    private static final int PROMISE = 4;
    private static final int NACK = 5;
    private static final int ACCEPT = 6;
    private static final int VOTED = 7;
    private static final int HEARTBEAT = 8;
    private static final int HEARTBEAT_ACK = 9;
    private static final int CATCH_UP_REQUEST = 10;
    private static final int CATCH_UP_REPLY = 11;
    private static final int TOO_OLD = 12;
    private static final int FORWARD = 13;
    private static final int OPEN = 14;
    private static final int REJOIN = 15;
    private static final int FORWARD_ENTRY = 20;

    private static final int FIXED_BYTES = 80;
    private static final int BALLOT_BYTES = 8;

    private MessageCodec() {}

    /** At least what {@link #encode} writes. */
    public static int sizeBound(Message message) {
        return FIXED_BYTES
                + switch (message) {
                    case Message.Accept accept ->
                            BatchCodec.sizeBound(accept.batch()) + 4 * accept.route().size();
                    case Message.Promise promise -> {
                        int sum = 0;
                        for (AcceptedValue value : promise.accepted()) {
                            sum =
                                    Math.addExact(
                                            sum,
                                            8 + BALLOT_BYTES + BatchCodec.sizeBound(value.batch()));
                        }
                        yield sum;
                    }
                    case Message.CatchUpReply reply -> sizeBound(reply.batches());
                    case Message.Open open ->
                            sizeBound(open.batches()) + 8 * open.readmitted().size();
                    case Message.Forward forward ->
                            forward.value().length + 4 * forward.destinations().length;
                    default -> 0;
                };
    }

    private static int sizeBound(List<Batch> batches) {
        int sum = 0;
        for (Batch batch : batches) {
            sum = Math.addExact(sum, BatchCodec.sizeBound(batch));
        }
        return sum;
    }

    public static void encode(Message message, ByteBuffer to) {
        switch (message) {
            case Message.PreVote m ->
                    kind(to, PRE_VOTE)
                            .putInt(m.generation())
                            .putLong(m.attempt())
                            .putLong(m.decided());
            case Message.PreVoteReply m -> {
                kind(to, PRE_VOTE_REPLY).putLong(m.attempt()).put((byte) (m.granted() ? 1 : 0));
                ballot(to, m.promised()).putLong(m.decided());
            }
            case Message.Prepare m -> ballot(kind(to, PREPARE), m.ballot()).putLong(m.decided());
            case Message.Promise m -> promise(m, to);
            case Message.Nack m -> ballot(ballot(kind(to, NACK), m.rejected()), m.promised());
            case Message.Accept m -> {
                ballot(kind(to, ACCEPT), m.ballot()).putLong(m.instance()).putLong(m.decided());
                to.putShort((short) m.route().size());
                m.route().forEach(to::putInt);
                BatchCodec.encode(m.batch(), to);
            }
            case Message.Voted m ->
                    ballot(kind(to, VOTED), m.ballot()).putLong(m.through()).putLong(m.decided());
            case Message.Heartbeat m ->
                    ballot(kind(to, HEARTBEAT), m.ballot())
                            .putLong(m.decided())
                            .putLong(m.last())
                            .putLong(m.sentNs())
                            .putLong(m.trimmable());
            case Message.HeartbeatAck m ->
                    ballot(kind(to, HEARTBEAT_ACK), m.ballot())
                            .putLong(m.sentNs())
                            .putLong(m.through())
                            .putLong(m.decided())
                            .putLong(m.applied())
                            .putLong(m.checkpointed());
            case Message.CatchUpRequest m -> kind(to, CATCH_UP_REQUEST).putLong(m.from());
            case Message.CatchUpReply m -> {
                kind(to, CATCH_UP_REPLY).putLong(m.from()).putLong(m.decided());
                batches(m.batches(), to);
            }
            case Message.Open m -> {
                ballot(kind(to, OPEN), m.ballot()).putLong(m.base());
                to.putInt(m.readmitted().size());
                m.readmitted().forEach(to::putLong);
                batches(m.batches(), to);
            }
            case Message.Rejoin m -> kind(to, REJOIN).putLong(m.incident()).putLong(m.decided());
            case Message.ForwardEntry m -> BatchCodec.encode(m.entry(), kind(to, FORWARD_ENTRY));
            case Message.TooOld m ->
                    kind(to, TOO_OLD)
                            .putLong(m.from())
                            .putLong(m.firstAvailable())
                            .putLong(m.decided());
            case Message.Forward m ->
                    BatchCodec.putValue(kind(to, FORWARD), m.value(), m.destinations());
        }
    }

    private static void promise(Message.Promise m, ByteBuffer to) {
        ballot(kind(to, PROMISE), m.ballot()).putLong(m.decided()).putLong(m.lastTimestamp());
        ballot(to, m.opened()).putLong(m.base()).putInt(m.accepted().size());
        for (AcceptedValue value : m.accepted()) {
            ballot(to.putLong(value.instance()), value.ballot());
            BatchCodec.encode(value.batch(), to);
        }
    }

    private static void batches(List<Batch> batches, ByteBuffer to) {
        to.putInt(batches.size());
        for (Batch batch : batches) {
            BatchCodec.encode(batch, to);
        }
    }

    private static ByteBuffer kind(ByteBuffer to, int kind) {
        return to.put((byte) kind);
    }

    private static ByteBuffer ballot(ByteBuffer to, Ballot ballot) {
        return to.putLong(LogCodec.pack(ballot));
    }

    /** Reads one message, which must end where the buffer does. */
    public static Message decode(ByteBuffer from) throws WireException {
        Message message;
        try {
            message = decodeOne(from);
        } catch (BufferUnderflowException e) {
            throw new WireException("a message ends early");
        }
        if (from.hasRemaining()) {
            throw new WireException(
                    from.remaining()
                            + " bytes too many behind "
                            + message.getClass().getSimpleName());
        }
        return message;
    }

    private static Message decodeOne(ByteBuffer from) throws WireException {
        int kind = from.get();
        return switch (kind) {
            case PRE_VOTE -> new Message.PreVote(from.getInt(), from.getLong(), from.getLong());
            case PRE_VOTE_REPLY ->
                    new Message.PreVoteReply(
                            from.getLong(), from.get() != 0, ballot(from), from.getLong());
            case PREPARE -> new Message.Prepare(ballot(from), from.getLong());
            case PROMISE -> promise(from);
            case NACK -> new Message.Nack(ballot(from), ballot(from));
            case ACCEPT -> {
                Ballot ballot = ballot(from);
                long instance = from.getLong();
                long decided = from.getLong();
                List<Integer> route = ids(from);
                yield new Message.Accept(ballot, instance, BatchCodec.decode(from), decided, route);
            }
            case VOTED -> new Message.Voted(ballot(from), from.getLong(), from.getLong());
            case HEARTBEAT ->
                    new Message.Heartbeat(
                            ballot(from),
                            from.getLong(),
                            from.getLong(),
                            from.getLong(),
                            from.getLong());
            case HEARTBEAT_ACK ->
                    new Message.HeartbeatAck(
                            ballot(from),
                            from.getLong(),
                            from.getLong(),
                            from.getLong(),
                            from.getLong(),
                            from.getLong());
            case CATCH_UP_REQUEST -> new Message.CatchUpRequest(from.getLong());
            case CATCH_UP_REPLY -> {
                long first = from.getLong();
                long decided = from.getLong();
                yield new Message.CatchUpReply(first, batches(from), decided);
            }
            case OPEN -> {
                Ballot ballot = ballot(from);
                long base = from.getLong();
                List<Long> readmitted = numbers(from);
                yield new Message.Open(ballot, base, batches(from), readmitted);
            }
            case REJOIN -> new Message.Rejoin(from.getLong(), from.getLong());
            case FORWARD_ENTRY -> new Message.ForwardEntry(BatchCodec.entry(from));
            case TOO_OLD -> new Message.TooOld(from.getLong(), from.getLong(), from.getLong());
            case FORWARD -> {
                int[] destinations = BatchCodec.destinations(from);
                yield new Message.Forward(BatchCodec.value(from), destinations);
            }
            default -> throw new WireException("unknown message kind " + kind);
        };
    }

    private static List<Integer> ids(ByteBuffer from) throws WireException {
        int count = Short.toUnsignedInt(from.getShort());
        if (count == 0) {
            return List.of();
        }
        Limits.count(from, count, 4);
        List<Integer> ids = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            ids.add(from.getInt());
        }
        return ids;
    }

    private static List<Long> numbers(ByteBuffer from) throws WireException {
        int count = from.getInt();
        Limits.count(from, count, 8);
        List<Long> numbers = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            numbers.add(from.getLong());
        }
        return numbers;
    }

    private static List<Batch> batches(ByteBuffer from) throws WireException {
        int count = from.getInt();
        Limits.count(from, count, 4);
        List<Batch> batches = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            batches.add(BatchCodec.decode(from));
        }
        return batches;
    }

    private static Message.Promise promise(ByteBuffer from) throws WireException {
        Ballot ballot = ballot(from);
        long decided = from.getLong();
        long lastTimestamp = from.getLong();
        Ballot opened = ballot(from);
        long base = from.getLong();
        int count = from.getInt();
        Limits.count(from, count, 8 + BALLOT_BYTES + 4);
        List<AcceptedValue> accepted = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            long instance = from.getLong();
            Ballot of = ballot(from);
            accepted.add(new AcceptedValue(instance, of, BatchCodec.decode(from)));
        }
        return new Message.Promise(ballot, decided, lastTimestamp, opened, base, accepted);
    }

    private static Ballot ballot(ByteBuffer from) throws WireException {
        long packed = from.getLong();
        if (packed < 0) {
            throw new WireException("a ballot that makes no sense");
        }
        return LogCodec.unpack(packed);
    }
}
