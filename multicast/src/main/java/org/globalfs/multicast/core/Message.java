package org.globalfs.multicast.core;

import java.util.Arrays;
import java.util.List;
import org.globalfs.multicast.Entry;

/**
 * What members of a ring tell each other. The transport may lose, duplicate, delay and reorder
 * messages.
 */
public sealed interface Message {

    /**
     * Would you vote for me? Asked before a ballot is used up, so that a cut-off member disturbs
     * nobody. Only members of the same generation can say yes.
     */
    record PreVote(int generation, long attempt, long decided) implements Message {}

    record PreVoteReply(long attempt, boolean granted, Ballot promised, long decided)
            implements Message {}

    /** Phase 1a. */
    record Prepare(Ballot ballot, long decided) implements Message {}

    /**
     * Phase 1b: the last ballot that the sender opened, from which base on, and its vote in each
     * instance above {@code decided}, its own decided prefix. {@code lastTimestamp} is at least
     * that of everything the sender ever voted for. May be large: the transport must carry a
     * message as large as the votes that can be outstanding (a few times the window's bytes).
     */
    record Promise(
            Ballot ballot,
            long decided,
            long lastTimestamp,
            Ballot opened,
            long base,
            List<AcceptedValue> accepted)
            implements Message {
        public Promise {
            accepted = List.copyOf(accepted);
        }
    }

    /** The sender has promised a higher ballot than the one it was asked for. */
    record Nack(Ballot rejected, Ballot promised) implements Message {}

    /**
     * Phase 2a of all that the new coordinator found in phase 1, and of its barrier, at once:
     * everything below {@code base} is decided, {@code base} and the following get these batches. A
     * member takes all or nothing, and forgets its votes of earlier ballots from {@code base} on;
     * only then it takes part in the ballot. May be large, as Promise.
     *
     * @param readmitted incidents whose loss of votes does no harm in this ballot and above, see
     *     {@link Rejoin}
     */
    record Open(Ballot ballot, long base, List<Batch> batches, List<Long> readmitted)
            implements Message {
        public Open {
            batches = List.copyOf(batches);
            readmitted = List.copyOf(readmitted);
        }
    }

    /**
     * Phase 2a; {@code decided} is what the coordinator knows to be decided. It may come from a
     * member that passes it on: what it says is the word of the ballot's coordinator all the same.
     *
     * @param route who is still to get it, in order; the receiver passes it on to the first
     */
    record Accept(Ballot ballot, long instance, Batch batch, long decided, List<Integer> route)
            implements Message {
        public Accept {
            route = List.copyOf(route);
        }

        Accept(Ballot ballot, long instance, Batch batch, long decided) {
            this(ballot, instance, batch, decided, List.of());
        }

        Accept along(List<Integer> newRoute) {
            return new Accept(ballot, instance, batch, decided, newRoute);
        }
    }

    /**
     * Phase 2b, cumulative: in this ballot the sender has durably accepted every instance through
     * {@code through}, except ones that its coordinator said to be decided. One message replaces
     * all earlier ones of its ballot, so votes can be lost, doubled and coalesced.
     */
    record Voted(Ballot ballot, long through, long decided) implements Message {}

    /**
     * The coordinator lives. {@code last} is its last proposed instance, {@code sentNs} its own
     * clock. Nobody needs what is in the log through {@code trimmable} any more.
     */
    record Heartbeat(Ballot ballot, long decided, long last, long sentNs, long trimmable)
            implements Message {}

    /**
     * Echoes {@code sentNs}: until a lease later on the sender's clock it votes for nobody but this
     * coordinator. {@code through} is as in Voted; 0 when the sender has not opened the ballot.
     * {@code applied} and {@code checkpointed} say what the sender still needs of logs, see {@link
     * RingCore#onProgress}.
     */
    record HeartbeatAck(
            Ballot ballot, long sentNs, long through, long decided, long applied, long checkpointed)
            implements Message {}

    /**
     * The sender lost its votes in this incident and takes no part: let a ballot begin that all
     * others promise, and that therefore knows of every value that the lost votes may have helped
     * to choose.
     */
    record Rejoin(long incident, long decided) implements Message {}

    /** Send me decided instances, {@code from} first. */
    record CatchUpRequest(long from) implements Message {}

    /**
     * Decided batches of consecutive instances, {@code from} first; {@code decided} is how far the
     * sender is.
     */
    record CatchUpReply(long from, List<Batch> batches, long decided) implements Message {
        public CatchUpReply {
            batches = List.copyOf(batches);
        }
    }

    /** The sender's log begins at {@code firstAvailable}, beyond what was asked for. */
    record TooOld(long from, long firstAvailable, long decided) implements Message {}

    /**
     * A subscription for the coordinator to order, or a skip: a learner's merge waits for the ring
     * to get that far.
     */
    record ForwardEntry(Entry entry) implements Message {}

    /** A value for the coordinator to order. */
    record Forward(byte[] value, int[] destinations) implements Message {
        @Override
        public boolean equals(Object other) {
            return other instanceof Forward that
                    && Arrays.equals(value, that.value)
                    && Arrays.equals(destinations, that.destinations);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(value);
        }

        @Override
        public String toString() {
            return "Forward[" + value.length + " bytes, " + Arrays.toString(destinations) + "]";
        }
    }
}
