package org.globalfs.multicast.core;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Membership;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * Whom this member takes for the ring's coordinator, and how it becomes that itself: pre-vote,
 * phase 1, catching up. A member is follower (neither {@link Candidacy} nor {@link Leadership}),
 * candidate, or coordinator.
 *
 * <p>Invariants: a member that granted a lease helps nobody else to be elected while it lasts; a
 * ballot is used by one election of one node, and is on its disk before anybody hears of it; a
 * candidate leads only with the promises of a majority, its own among them once durable, and with
 * everything that any of them knows to be decided.
 */
final class Elections {

    /** What safety hangs on most. */
    interface Rules {
        Ballot newBallot(long highestRoundSeen);

        Skips newSkips(long nowNs);

        int promisesNeeded();
    }

    private final RingConfig config;
    private final @Nullable ImportSource imports;
    private final Acceptor acceptor;
    private final Prefix prefix;
    private final LostVotes lostVotes;
    private final Rules rules;
    private final GrantedLease lease;
    private final Jitter jitter;
    private Membership members;
    private VoteCount votes;
    private CatchUp catchUp;
    private Rejoins rejoins;
    private @Nullable Candidacy candidacy;
    private @Nullable Leadership leadership;

    /** What this coordinator was before the ballot that it is opening to let a member in. */
    private @Nullable Leadership resigned;

    private int coordinator = -1;

    /** When something came from it last. */
    private long heardNs;

    /** Who said last that it cannot vote for this member: it may hear a coordinator. */
    private int relay = -1;

    private long attempts;
    private long highestRound;
    private long electionNs;

    Elections(
            RingConfig config,
            PersistedState state,
            @Nullable ImportSource imports,
            Acceptor acceptor,
            Prefix prefix,
            LostVotes lostVotes,
            Membership members,
            VoteCount votes,
            CatchUp catchUp,
            Rules rules,
            long nowNs) {
        this.config = config;
        this.imports = imports;
        this.acceptor = acceptor;
        this.prefix = prefix;
        this.lostVotes = lostVotes;
        this.rules = rules;
        this.members = members;
        this.votes = votes;
        this.catchUp = catchUp;
        this.rejoins = new Rejoins(config, members);
        boolean fresh =
                state.promised().equals(Ballot.NONE)
                        && state.decided() == 0
                        && !lostVotes.outside();
        this.lease = new GrantedLease(config.leaseNs(), fresh, nowNs);
        this.jitter = new Jitter(config.seed(), config.electionJitterNs());
        this.highestRound = state.promised().round();
        long turn =
                config.electionJitterNs()
                        * Math.max(0, members.rank(config.self()))
                        / members.size();
        this.electionNs = lease.untilNs() + turn;
    }

    /** Not null: this member is the coordinator. */
    @Nullable Leadership leadership() {
        return leadership;
    }

    /** Who takes proposals here: the coordinator, or one that is between two of its ballots. */
    @Nullable Leadership taking() {
        return leadership != null ? leadership : resigned;
    }

    /** Replica id, or -1. */
    int coordinator() {
        return coordinator;
    }

    /**
     * Whom to send proposals to, or -1: the coordinator; who hears of none asks a member that may,
     * and passes them on. So a network that is cut in part only does not keep anybody from the
     * ring.
     */
    int proposalsGoTo() {
        return coordinator >= 0 ? coordinator : relay;
    }

    /** The coordinator that this member hears, itself not, or -1. */
    int heard(long nowNs) {
        int holder = lease.holder(nowNs);
        return holder == config.self() ? -1 : holder;
    }

    /** Whether this member's promises and votes count. */
    boolean takesPart() {
        return members.rank(config.self()) >= 0 && !lostVotes.outside();
    }

    // ---- when to stand

    /** Does not stand before that and a random while. */
    void notBefore(long timeNs) {
        electionNs = Math.max(electionNs, timeNs + jitter.nextNs());
    }

    /** Helps nobody else to be elected for the time of a lease. */
    void grant(int toCoordinator, long nowNs) {
        lease.grant(toCoordinator, nowNs);
    }

    /** Stands once what was granted has run out. */
    void awaitLease() {
        electionNs = lease.untilNs() + jitter.nextNs();
    }

    /** Whether nothing came from a coordinator for a lease; then true again after this time. */
    boolean silentTooLong(long nowNs, long againNs) {
        if (nowNs < electionNs) {
            return false;
        }
        electionNs = nowNs + againNs;
        return true;
    }

    /**
     * Who does not stand itself must notice as well that its coordinator is gone: proposals to that
     * one would be lost.
     */
    void forgetSilent(long nowNs) {
        if (coordinator >= 0 && nowNs - heardNs > config.leaseNs()) {
            follow(-1);
        }
    }

    /** What came meanwhile may be unread yet. */
    void stoodStill(long nowNs) {
        notBefore(nowNs + config.heartbeatNs());
        heardNs = Math.max(heardNs, nowNs - config.leaseNs() + config.heartbeatNs());
    }

    void checkMajority(long nowNs) {
        if (leadership != null && leadership.lostMajority(nowNs)) {
            stepDown(nowNs);
        }
    }

    void stepDown(long nowNs) {
        follow(-1);
        electionNs = nowNs + config.leaseNs() + jitter.nextNs();
    }

    /** Is coordinator or candidate no more; follows whom it followed. */
    void resign() {
        follow(coordinator == config.self() ? -1 : coordinator);
    }

    /** The coordinator was heard just now. */
    void follow(int newCoordinator, Ballot ballot, long nowNs) {
        heardNs = nowNs;
        highestRound = Math.max(highestRound, ballot.round());
        follow(newCoordinator);
    }

    /** The candidate fetched some of what it lacks. */
    void caughtUpFurther(long nowNs) {
        if (candidacy != null && candidacy.stage() == Candidacy.Stage.CATCH_UP) {
            candidacy.extend(nowNs + config.leaseNs());
        }
    }

    /** When {@link #tick} is due. */
    long nextTickNs() {
        if (leadership != null) {
            return leadership.nextTickNs();
        }
        if (candidacy != null) {
            return Math.min(candidacy.resendNs(), candidacy.deadlineNs());
        }
        return takesPart() ? electionNs : Long.MAX_VALUE;
    }

    // ---- membership

    /**
     * Another membership: nobody is elected in it yet. Who was the coordinator, and still takes
     * part, stands at once.
     */
    void enter(
            Membership next, VoteCount newVotes, CatchUp newCatchUp, long nowNs, Effects effects) {
        Leadership former = leadership;
        members = next;
        votes = newVotes;
        catchUp = newCatchUp;
        rejoins = new Rejoins(config, next);
        relay = -1;
        lease.grant(coordinator, nowNs);
        follow(next.rank(coordinator) >= 0 ? coordinator : -1);
        awaitLease();
        if (former != null && takesPart()) {
            standAgain(former, Map.of(), nowNs, effects);
        }
    }

    // ---- elections

    /** Of a member that takes part and is no coordinator. */
    void tick(long nowNs, Effects effects) {
        if (candidacy == null) {
            if (nowNs >= electionNs && !lease.forbids(config.self(), nowNs)) {
                stand(nowNs, effects);
            }
        } else if (nowNs >= candidacy.deadlineNs()) {
            follow(-1);
            electionNs = nowNs + jitter.nextNs();
        } else if (nowNs >= candidacy.resendNs()) {
            canvass(nowNs, effects);
        }
    }

    private void stand(long nowNs, Effects effects) {
        coordinator = -1;
        candidacy =
                new Candidacy(
                        ++attempts,
                        config.self(),
                        highestRound,
                        nowNs + 2 * config.heartbeatNs(),
                        nowNs + config.leaseNs());
        if (members.majority() == 1) {
            prepare(candidacy, nowNs, effects);
        } else {
            canvass(nowNs, effects);
        }
    }

    /** Asks (again) for what the candidacy still lacks. */
    private void canvass(long nowNs, Effects effects) {
        Candidacy current = candidate();
        current.resendAt(nowNs + config.heartbeatNs());
        switch (current.stage()) {
            case PRE_VOTE ->
                    effects.send(
                            Outbound.ALL,
                            new Message.PreVote(
                                    members.generation(), current.attempt, prefix.decided()));
            case PREPARE ->
                    effects.sendAfterPersist(
                            Outbound.ALL, new Message.Prepare(current.ballot(), prefix.decided()));
            case CATCH_UP -> {}
        }
    }

    private Candidacy candidate() {
        Candidacy current = candidacy;
        Invariant.check(current != null, "not a candidate");
        return current;
    }

    void onPreVote(int from, Message.PreVote m, long nowNs, Effects effects) {
        catchUp.heard(from, m.decided());
        boolean granted =
                leadership == null
                        && takesPart()
                        && m.generation() == members.generation()
                        && !lease.forbids(from, nowNs)
                        && m.decided() + (long) RingCore.LAG_WINDOWS * config.windowInstances()
                                >= prefix.decided();
        if (granted && candidacy != null) {
            granted = candidacy.givesWay(from, nowNs);
            if (granted) {
                follow(-1);
                electionNs = nowNs + config.leaseNs() / 2 + jitter.nextNs();
            }
        }
        effects.send(
                from,
                new Message.PreVoteReply(
                        m.attempt(), granted, acceptor.promised(), prefix.decided()));
    }

    void onPreVoteReply(int from, Message.PreVoteReply m, long nowNs, Effects effects) {
        catchUp.heard(from, m.decided());
        highestRound = Math.max(highestRound, m.promised().round());
        Candidacy current = candidacy;
        if (current == null
                || current.stage() != Candidacy.Stage.PRE_VOTE
                || current.attempt != m.attempt()) {
            return;
        }
        current.sawRound(m.promised().round());
        if (m.granted()) {
            current.support(from);
            if (current.supporters() >= members.majority()) {
                prepare(current, nowNs, effects);
            }
        } else if (!m.promised().below(acceptor.promised())) {
            relay = from;
        }
    }

    private void prepare(Candidacy current, long nowNs, Effects effects) {
        highestRound =
                Math.max(
                        highestRound,
                        Math.max(current.highestRound(), acceptor.promised().round()));
        Ballot ballot = rules.newBallot(highestRound);
        highestRound = Math.max(highestRound, ballot.round());
        acceptor.promise(ballot, effects);
        current.prepare(ballot, nowNs + config.leaseNs());
        canvass(nowNs, effects);
    }

    /** A candidate's own promise counts like any other: once it is durable. */
    boolean countOwnPromise(long nowNs, Effects effects) {
        Candidacy current = candidacy;
        if (current != null
                && current.stage() == Candidacy.Stage.PREPARE
                && acceptor.promiseIsDurable()
                && !current.supports(config.self())) {
            return promised(current, config.self(), ownPromise(current.ballot()), nowNs, effects);
        }
        return false;
    }

    private Message.Promise ownPromise(Ballot ballot) {
        return new Message.Promise(
                ballot,
                prefix.decided(),
                prefix.lastTimestamp(),
                acceptor.voting(),
                acceptor.base(),
                acceptor.acceptedValues());
    }

    void onPrepare(int from, Message.Prepare m, long nowNs, Effects effects) {
        catchUp.heard(from, m.decided());
        Ballot ballot = m.ballot();
        if (ballot.node() != from
                || ballot.generation() > members.generation()
                || lease.forbids(from, nowNs)
                || lostVotes.outside()) {
            return;
        }
        if (!takesPart()) {
            if (ballot.above(acceptor.promised())) {
                follow(-1);
            }
            return;
        }
        highestRound = Math.max(highestRound, ballot.round());
        if (ballot.below(acceptor.promised())) {
            effects.send(from, new Message.Nack(ballot, acceptor.promised()));
            return;
        }
        if (ballot.above(acceptor.promised())) {
            follow(-1);
            acceptor.promise(ballot, effects);
            electionNs = Math.max(electionNs, nowNs + config.leaseNs() + jitter.nextNs());
        }
        effects.sendAfterPersist(from, ownPromise(ballot));
    }

    /** Whether that made this member the coordinator. */
    boolean onPromise(int from, Message.Promise m, long nowNs, Effects effects) {
        catchUp.heard(from, m.decided());
        Candidacy current = candidacy;
        if (current != null
                && current.stage() == Candidacy.Stage.PREPARE
                && current.ballot().equals(m.ballot())) {
            return promised(current, from, m, nowNs, effects);
        }
        return false;
    }

    private boolean promised(
            Candidacy current, int from, Message.Promise m, long nowNs, Effects effects) {
        current.promised(from, m);
        prefix.witness(m.lastTimestamp());
        if (current.supporters() >= rules.promisesNeeded() && current.othersSupport()) {
            current.catchUp(nowNs + config.leaseNs());
            return leadIfCaughtUp(nowNs, effects);
        }
        return false;
    }

    /** Becomes coordinator once elected and caught up; whether it did. */
    boolean leadIfCaughtUp(long nowNs, Effects effects) {
        Candidacy current = candidacy;
        if (current == null
                || current.stage() != Candidacy.Stage.CATCH_UP
                || prefix.decided() < current.decided()) {
            return false;
        }
        Invariant.check(
                current.ballot().equals(acceptor.promised()),
                "elected in %s but promised %s",
                current.ballot(),
                acceptor.promised());
        candidacy = null;
        coordinator = config.self();
        Leadership elected =
                new Leadership(
                        config,
                        members,
                        acceptor,
                        prefix,
                        votes,
                        imports,
                        rules.newSkips(nowNs),
                        current.ballot(),
                        current.readmitted(),
                        nowNs);
        leadership = elected;
        if (resigned != null) {
            elected.takeQueueOf(resigned);
            resigned = null;
        }
        lease.grant(config.self(), nowNs);
        elected.open(current.found(prefix.decided()), effects);
        elected.heartbeat(nowNs, effects);
        return true;
    }

    void onNack(Message.Nack m, long nowNs) {
        highestRound = Math.max(highestRound, m.promised().round());
        boolean mine =
                leadership != null && leadership.ballot().equals(m.rejected())
                        || candidacy != null && candidacy.ballot().equals(m.rejected());
        if (mine && m.promised().above(m.rejected())) {
            follow(-1);
            electionNs = nowNs + jitter.nextNs();
        }
    }

    /**
     * A member that lost its votes: this coordinator begins a new ballot, which all others promise;
     * for a learner a majority is enough, see {@link LostVotes}.
     */
    void onRejoin(int from, Message.Rejoin m, long nowNs, Effects effects) {
        catchUp.heard(from, m.decided());
        rejoins.heard(from, m.incident(), nowNs);
        Leadership current = leadership;
        if (current == null) {
            return;
        }
        current.asksToRejoin(from, nowNs);
        int rank = members.rank(from);
        if (rank >= 0) {
            current.heard(rank, m.decided(), nowNs);
        }
        if (current.readmits(m.incident())) {
            if (rank < 0) {
                // Nobody notices by its votes that it missed the opening.
                current.sendOpen(from, effects);
            }
            return;
        }
        Map<Integer, Long> open = rejoins.open(nowNs);
        boolean acceptors =
                !open.isEmpty()
                        && rejoins.possible(open, nowNs)
                        && current.hearsAllBut(open.keySet(), nowNs);
        // Without a majority nobody would be elected again.
        boolean learner =
                rank < 0
                        && !current.changing()
                        && current.confirmedSince(nowNs - config.leaseNs())
                        && rejoins.possible(Map.of(), nowNs);
        if (acceptors || learner) {
            rejoins.attempted(nowNs);
            standAgain(current, acceptors ? open : Map.of(), nowNs, effects);
        }
    }

    /** Stops being candidate or coordinator. */
    private void follow(int newCoordinator) {
        candidacy = null;
        leadership = null;
        resigned = null;
        coordinator = newCoordinator;
    }

    /**
     * A coordinator begins another ballot, without asking whether it may.
     *
     * @param readmitting acceptors' incidents by rank; all learners that ask are let in with them
     */
    private void standAgain(
            Leadership former, Map<Integer, Long> readmitting, long nowNs, Effects effects) {
        follow(-1);
        resigned = former;
        Candidacy again =
                new Candidacy(
                        ++attempts, config.self(), highestRound, nowNs, nowNs + config.leaseNs());
        List<Long> incidents = new ArrayList<>(rejoins.learners(nowNs));
        Set<Integer> others = new HashSet<>();
        if (!readmitting.isEmpty()) {
            others.addAll(members.acceptors());
            readmitting.keySet().forEach(rank -> others.remove(members.acceptor(rank)));
            incidents.addAll(readmitting.values());
        }
        again.readmit(incidents, others);
        candidacy = again;
        prepare(again, nowNs, effects);
    }
}
