package org.globalfs.multicast.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * The acceptor's part: the promise and the votes above the decided prefix.
 *
 * <p>Votes are cumulative: {@code through} says that in ballot {@code voting} every instance from the ballot's base through
 * it is accepted here, or was chosen in that ballot before, as its coordinator said. That an instance is decided in this
 * member's own prefix does not count: it may have been chosen in a ballot above {@code voting}, whose coordinator would then
 * be a deposed one.
 */
final class Acceptor {

    /** A cumulative vote that is durable once the log is durable through the position. */
    private record PendingVote(long position, long through) {}

    private final Journal journal;
    private final Prefix prefix;
    private final TreeMap<Long, AcceptedValue> accepted = new TreeMap<>();
    private final ArrayDeque<PendingVote> pending = new ArrayDeque<>();
    private Ballot promised;
    private long promisedPosition;
    private Ballot voting = Ballot.NONE;
    private long base;
    private long through;
    private long durableThrough;

    Acceptor(Journal journal, Prefix prefix, PersistedState state) {
        this.journal = journal;
        this.prefix = prefix;
        this.promised = state.promised();
        for (AcceptedValue value : state.accepted()) {
            Invariant.check(value.instance() > prefix.decided(), "vote for the decided instance %s", value.instance());
            Invariant.check(!value.ballot().above(promised), "vote in %s above promise %s", value.ballot(), promised);
            accepted.put(value.instance(), value);
        }
    }

    Ballot promised() {
        return promised;
    }

    boolean promiseIsDurable() {
        return promisedPosition <= journal.durable();
    }

    void promise(Ballot ballot, Effects effects) {
        if (ballot.above(promised)) {
            promised = ballot;
            promisedPosition = journal.append(new LogRecord.Promised(ballot), effects);
        }
    }

    /** A ballot's coordinator spoke: votes are counted in this ballot from its base on. */
    void enter(Ballot ballot, long ballotBase, long coordinatorDecided) {
        Invariant.check(ballot.equals(promised), "entering %s with promise %s", ballot, promised);
        if (!ballot.equals(voting)) {
            voting = ballot;
            base = ballotBase;
            through = ballotBase - 1;
            durableThrough = through;
            pending.clear();
        }
        Invariant.check(base == ballotBase, "ballot %s has bases %s and %s", ballot, base, ballotBase);
        through = Math.max(through, coordinatorDecided);
        durableThrough = Math.max(durableThrough, coordinatorDecided);
        advance();
    }

    /** Votes; the ballot must have been entered. What is decided or voted for already changes nothing. */
    void accept(Message.Accept message, Effects effects) {
        Ballot ballot = message.ballot();
        Invariant.check(ballot.equals(voting) && ballot.equals(promised), "vote in %s, promised %s", ballot, promised);
        long instance = message.instance();
        Invariant.check(instance >= base, "instance %s below base %s of ballot %s", instance, base, ballot);
        if (instance <= prefix.decided()) {
            return;
        }
        AcceptedValue former = accepted.get(instance);
        if (former != null && former.ballot().equals(ballot)) {
            return;
        }
        Invariant.check(former == null || former.ballot().below(ballot), "vote in %s after %s", ballot, former);
        accepted.put(instance, new AcceptedValue(instance, ballot, message.batch()));
        prefix.witness(message.batch().lastTimestamp());
        journal.append(new LogRecord.Accepted(instance, ballot, message.batch()), effects);
        advance();
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

    /** The ballot of {@link #through}; {@link Ballot#NONE} before any coordinator spoke. */
    Ballot voting() {
        return voting;
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
        accepted.headMap(instance, true).clear();
    }
}
