package org.globalfs.multicast.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * The acceptor's part: the promise and the votes above the decided prefix.
 *
 * <p>Votes are cumulative: {@code through} says that in ballot {@code voting} every instance
 * through it is accepted here, or decided, as the ballot's coordinator said. That an instance is
 * decided in this member's own prefix does not count: it may have been chosen in a ballot above
 * {@code voting}, whose coordinator would then be a deposed one.
 *
 * <p>A ballot is opened as a whole: from {@code base} on there are only votes of {@code voting},
 * and they include everything that its coordinator found. So of all votes at or above the base of
 * the highest opened ballot, those of other ballots were never decided, and a value never comes
 * back after later ones took its place. Below the base older votes remain, for instances that are
 * decided without this member knowing it.
 */
final class Acceptor {

    /** A cumulative vote that is durable once the log is durable through the position. */
    private record PendingVote(long position, long through) {}

    private final Journal journal;
    private final Prefix prefix;
    private final TreeMap<Long, AcceptedValue> accepted = new TreeMap<>();
    private final ArrayDeque<PendingVote> pending = new ArrayDeque<>();
    private Ballot promised;
    private long openedPosition;
    private long promisedPosition;
    private Ballot voting;
    private long base;
    private long through;
    private long durableThrough;
    private long acceptedBytes;

    Acceptor(Journal journal, Prefix prefix, PersistedState state) {
        this.journal = journal;
        this.prefix = prefix;
        this.promised = state.promised();
        this.voting = state.opened();
        this.base = state.base();
        this.through = base - 1;
        this.durableThrough = through;
        for (AcceptedValue value : state.accepted()) {
            Invariant.check(
                    value.instance() > prefix.decided(),
                    "vote for the decided instance %s",
                    value.instance());
            Invariant.check(
                    !value.ballot().above(promised),
                    "vote in %s above promise %s",
                    value.ballot(),
                    promised);
            accepted.put(value.instance(), value);
            acceptedBytes += value.batch().sizeBytes();
        }
        advance();
    }

    Ballot promised() {
        return promised;
    }

    boolean promiseIsDurable() {
        return promisedPosition <= journal.durable();
    }

    /** Whether a crash now would leave this member in the ballot that it votes in. */
    boolean openingIsDurable() {
        return openedPosition <= journal.durable();
    }

    void promise(Ballot ballot, Effects effects) {
        if (ballot.above(promised)) {
            promised = ballot;
            promisedPosition = journal.append(new LogRecord.Promised(ballot), effects);
        }
    }

    /**
     * Takes part in a ballot from now on: everything below the base is decided, from it on these
     * batches are accepted.
     */
    void open(Ballot ballot, long ballotBase, List<Batch> batches, Effects effects) {
        Invariant.check(ballot.equals(promised), "opening %s with promise %s", ballot, promised);
        Invariant.check(ballot.above(voting), "opening %s after %s", ballot, voting);
        forget(accepted.tailMap(ballotBase, true));
        voting = ballot;
        base = ballotBase;
        through = ballotBase - 1;
        durableThrough = through;
        pending.clear();
        long instance = ballotBase;
        for (Batch batch : batches) {
            put(instance++, batch, effects);
        }
        // The opening voids older votes from the base on. What is decided there without a vote in
        // this ballot must not be among them after a crash.
        prefix.log(journal, effects);
        openedPosition = journal.append(new LogRecord.Opened(ballot, ballotBase), effects);
        advance();
    }

    /**
     * From the instance after this one on the ring has another membership. What former members'
     * ballots put beyond it was never decided.
     *
     * @param record what the log is told of it
     */
    void enter(long instance, int generation, LogRecord record, Effects effects) {
        forget(accepted.tailMap(instance, false));
        pending.clear();
        promised = Ballot.max(promised, Ballot.floor(generation));
        promisedPosition = journal.append(record, effects);
    }

    /** The coordinator of the ballot says that everything through the instance is decided. */
    void coordinatorDecided(Ballot ballot, long instance) {
        if (ballot.equals(voting)) {
            through = Math.max(through, instance);
            durableThrough = Math.max(durableThrough, instance);
            advance();
        }
    }

    /** Votes in the ballot opened last. What is decided or voted for already changes nothing. */
    void accept(long instance, Batch batch, Effects effects) {
        Invariant.check(voting.equals(promised), "vote in %s, promised %s", voting, promised);
        AcceptedValue former = accepted.get(instance);
        if (instance >= base && (former == null || !former.ballot().equals(voting))) {
            put(instance, batch, effects);
            advance();
        }
    }

    private void put(long instance, Batch batch, Effects effects) {
        if (instance <= prefix.decided()) {
            return;
        }
        AcceptedValue former = accepted.put(instance, new AcceptedValue(instance, voting, batch));
        Invariant.check(former == null, "vote for %s in %s replaces %s", instance, voting, former);
        acceptedBytes += batch.sizeBytes();
        prefix.witness(batch.lastTimestamp());
        journal.append(new LogRecord.Accepted(instance, voting, batch), effects);
    }

    private void advance() {
        long before = through;
        for (AcceptedValue next = accepted.get(through + 1);
                next != null && next.ballot().equals(voting);
                next = accepted.get(through + 1)) {
            through++;
        }
        if (through > before) {
            pending.add(new PendingVote(journal.appended(), through));
            onPersisted();
        }
    }

    void onPersisted() {
        while (!pending.isEmpty() && pending.getFirst().position() <= journal.durable()) {
            durableThrough = Math.max(durableThrough, pending.removeFirst().through());
        }
    }

    /** The ballot opened last, that of {@link #through}; {@link Ballot#NONE} before the first. */
    Ballot voting() {
        return voting;
    }

    long base() {
        return base;
    }

    /** The cumulative vote, true once everything appended so far is durable. */
    long through() {
        return through;
    }

    long durableThrough() {
        return durableThrough;
    }

    @Nullable AcceptedValue accepted(long instance) {
        return accepted.get(instance);
    }

    List<AcceptedValue> acceptedValues() {
        return new ArrayList<>(accepted.values());
    }

    void forgetThrough(long instance) {
        forget(accepted.headMap(instance, true));
    }

    private void forget(SortedMap<Long, AcceptedValue> values) {
        for (AcceptedValue value : values.values()) {
            acceptedBytes -= value.batch().sizeBytes();
        }
        values.clear();
    }

    /** What the votes above the decided prefix take in memory, and in a promise. */
    long acceptedBytes() {
        return acceptedBytes;
    }
}
