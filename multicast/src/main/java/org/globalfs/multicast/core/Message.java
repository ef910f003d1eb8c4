package org.globalfs.multicast.core;

import java.util.List;

/** What members of a ring tell each other. The transport may lose, duplicate, delay and reorder messages. */
public sealed interface Message {

    /** Would you vote for me? Asked before a ballot is used up, so that a cut-off member disturbs nobody. */
    record PreVote(long attempt, long decided) implements Message {}

    record PreVoteReply(long attempt, boolean granted, Ballot promised, long decided) implements Message {}

    /** Phase 1a. */
    record Prepare(Ballot ballot, long decided) implements Message {}

    /**
     * Phase 1b: the sender's vote in each instance above {@code decided}, its own decided prefix. {@code lastTimestamp} is
     * at least that of everything the sender ever voted for. May be large: the transport must carry a message as large as
     * the votes that can be outstanding (a few times the window's bytes).
     */
    record Promise(Ballot ballot, long decided, long lastTimestamp, List<AcceptedValue> accepted) implements Message {
        public Promise {
            accepted = List.copyOf(accepted);
        }
    }

    /** The sender has promised a higher ballot than the one it was asked for. */
    record Nack(Ballot rejected, Ballot promised) implements Message {}

    /**
     * Phase 2a. {@code base} is the first instance of the ballot; {@code decided} is what the coordinator knows to be
     * decided.
     */
    record Accept(Ballot ballot, long base, long instance, Batch batch, long decided) implements Message {}

    /**
     * Phase 2b, cumulative: in this ballot the sender has durably accepted every instance from the ballot's base through
     * {@code through}, except ones that were chosen in this ballot before. One message replaces all earlier ones of its
     * ballot, so votes can be lost, doubled and coalesced.
     */
    record Voted(Ballot ballot, long through, long decided) implements Message {}

    /** The coordinator lives. {@code last} is its last proposed instance, {@code sentNs} its own clock. */
    record Heartbeat(Ballot ballot, long base, long decided, long last, long sentNs) implements Message {}

    /** Echoes {@code sentNs}: until a lease later on the sender's clock it votes for nobody but this coordinator. */
    record HeartbeatAck(Ballot ballot, long sentNs, long through, long decided) implements Message {}

    /** Send me decided instances, {@code from} first. */
    record CatchUpRequest(long from) implements Message {}

    /** Decided batches of consecutive instances, {@code from} first; {@code decided} is how far the sender is. */
    record CatchUpReply(long from, List<Batch> batches, long decided) implements Message {
        public CatchUpReply {
            batches = List.copyOf(batches);
        }
    }

    /** The sender's log begins at {@code firstAvailable}, beyond what was asked for. */
    record TooOld(long from, long firstAvailable, long decided) implements Message {}

    /** A value for the coordinator to order. */
    @SuppressWarnings("ArrayRecordComponent")
    record Forward(byte[] value, int[] destinations) implements Message {}
}
