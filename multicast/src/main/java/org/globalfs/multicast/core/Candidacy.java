package org.globalfs.multicast.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.protocol.Invariant;

/**
 * One attempt to become coordinator: asks whether an election would succeed (pre-vote), runs phase
 * 1, and gathers what may have been chosen. The prefix that any promise reports as decided must be
 * caught up before proposing. Above it, and below the base of the highest ballot that any promise
 * opened, everything is decided: the vote of the highest ballot tells. From that base on only this
 * highest ballot's votes can have been chosen, and only as far as they have no gap.
 */
final class Candidacy {

    enum Stage {
        PRE_VOTE,
        PREPARE,
        CATCH_UP
    }

    final long attempt;
    private final int self;
    private final long patienceNs;
    private final Set<Integer> supporters = new HashSet<>();
    private final TreeMap<Long, AcceptedValue> learned = new TreeMap<>();
    private Stage stage = Stage.PRE_VOTE;
    private Ballot ballot = Ballot.NONE;
    private List<Long> readmitted = List.of();
    private Set<Integer> others = Set.of();
    private long highestRound;
    private Ballot opened = Ballot.NONE;
    private long base = 1;
    private long decided;
    private long lastTimestamp;
    private long deadlineNs;
    private long resendNs;

    Candidacy(long attempt, int self, long highestRound, long patienceNs, long deadlineNs) {
        this.attempt = attempt;
        this.self = self;
        this.patienceNs = patienceNs;
        this.highestRound = highestRound;
        this.deadlineNs = deadlineNs;
        supporters.add(self);
    }

    Stage stage() {
        return stage;
    }

    Ballot ballot() {
        return ballot;
    }

    int supporters() {
        return supporters.size();
    }

    /** Of two that ask at once the lower goes on; one that asks in vain lets any other try. */
    boolean givesWay(int other, long nowNs) {
        return stage == Stage.PRE_VOTE && (other < self || nowNs > patienceNs);
    }

    boolean supports(int member) {
        return supporters.contains(member);
    }

    void support(int member) {
        supporters.add(member);
    }

    void sawRound(long round) {
        highestRound = Math.max(highestRound, round);
    }

    long highestRound() {
        return highestRound;
    }

    void prepare(Ballot newBallot, long newDeadlineNs) {
        stage = Stage.PREPARE;
        ballot = newBallot;
        deadlineNs = newDeadlineNs;
        supporters.clear();
    }

    /**
     * With a promise of each of the others, these lost votes do no harm. That of a member which
     * took part again meanwhile is none of them.
     *
     * @param allOthers the acceptors but those that lost their votes; none if only learners did,
     *     for which the promises of a majority are enough
     */
    void readmit(Collection<Long> incidents, Collection<Integer> allOthers) {
        readmitted = List.copyOf(incidents);
        others = Set.copyOf(allOthers);
    }

    /** Whether all have promised without whom nobody is let in again. */
    boolean othersSupport() {
        return supporters.containsAll(others);
    }

    List<Long> readmitted() {
        return readmitted;
    }

    void promised(int member, Message.Promise promise) {
        supporters.add(member);
        decided = Math.max(decided, promise.decided());
        lastTimestamp = Math.max(lastTimestamp, promise.lastTimestamp());
        if (promise.opened().above(opened)) {
            opened = promise.opened();
            base = promise.base();
        } else if (promise.opened().equals(opened)) {
            base = Math.max(base, promise.base());
        }
        for (AcceptedValue value : promise.accepted()) {
            learned.merge(value.instance(), value, (a, b) -> a.ballot().below(b.ballot()) ? b : a);
        }
    }

    /**
     * What must be proposed again after the decided prefix: everything that may have been chosen.
     */
    List<Batch> found(long prefix) {
        List<Batch> found = new ArrayList<>();
        for (long instance = prefix + 1; ; instance++) {
            AcceptedValue value = learned.get(instance);
            if (instance >= base && (value == null || !value.ballot().equals(opened))) {
                return found;
            }
            Invariant.check(
                    value != null, "instance %s is decided but no promise has it", instance);
            found.add(value.batch());
        }
    }

    void catchUp(long newDeadlineNs) {
        stage = Stage.CATCH_UP;
        deadlineNs = newDeadlineNs;
    }

    /** The highest decided prefix among the promises. */
    long decided() {
        return decided;
    }

    long lastTimestamp() {
        return lastTimestamp;
    }

    long deadlineNs() {
        return deadlineNs;
    }

    void extend(long newDeadlineNs) {
        deadlineNs = newDeadlineNs;
    }

    long resendNs() {
        return resendNs;
    }

    void resendAt(long whenNs) {
        resendNs = whenNs;
    }
}
