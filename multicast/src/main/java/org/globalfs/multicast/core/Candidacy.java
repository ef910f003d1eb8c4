package org.globalfs.multicast.core;

import java.util.HashSet;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to become coordinator: asks whether an election would succeed (pre-vote), runs phase 1, and gathers what may
 * have been chosen. The prefix that any promise reports as decided must be caught up before proposing; above it the value
 * of the highest ballot in any promise is the only one that can have been chosen.
 */
final class Candidacy {

    enum Stage {
        PRE_VOTE,
        PREPARE,
        CATCH_UP
    }

    final long attempt;
    private final Set<Integer> supporters = new HashSet<>();
    private final TreeMap<Long, AcceptedValue> learned = new TreeMap<>();
    private Stage stage = Stage.PRE_VOTE;
    private Ballot ballot = Ballot.NONE;
    private long highestRound;
    private long decided;
    private long lastTimestamp;
    private long deadlineNs;
    private long resendNs;

    Candidacy(long attempt, int self, long highestRound, long deadlineNs) {
        this.attempt = attempt;
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

    void promised(int member, Message.Promise promise) {
        supporters.add(member);
        decided = Math.max(decided, promise.decided());
        lastTimestamp = Math.max(lastTimestamp, promise.lastTimestamp());
        for (AcceptedValue value : promise.accepted()) {
            learned.merge(value.instance(), value, (a, b) -> a.ballot().below(b.ballot()) ? b : a);
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

    /** The highest instance that anyone of the majority voted in, or 0. */
    long lastLearned() {
        return learned.isEmpty() ? 0 : learned.lastKey();
    }

    /** What may have been chosen in an instance above {@link #decided}; null when nothing can have been. */
    @Nullable AcceptedValue learned(long instance) {
        return learned.get(instance);
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
