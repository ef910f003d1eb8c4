package org.globalfs.multicast.core;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * One member of one ring: Multi-Paxos with a stable coordinator, as a pure machine. Events come in
 * through the {@code on…} methods, and what they ask for is collected in {@link Effects}; {@link
 * #flush} ends a round of events.
 *
 * <p>All calls come from one thread. Time is passed in: {@code nowNs} is monotonic and not negative
 * (say, nanoTime less its value at start); only its rate matters, and only to the lease and to
 * progress, never to agreement.
 *
 * <p>How a value is decided. The coordinator sends Accept to everybody, itself or along a {@link
 * Route}, and appends the same to its own log; each member votes once its log is durable. Where
 * commands are {@linkplain RingConfig#acknowledgedAnywhere acknowledged anywhere} it sends its vote
 * to all, so every member learns the decision by itself, as soon as can be. Elsewhere only the
 * coordinator is in a hurry: it alone gets the votes, and tells what is decided with the next
 * Accept or, when there is none, an {@link Announcement}. A member is one of: follower (no {@link
 * Candidacy}, no {@link Leadership}), candidate, coordinator. Invariants:
 *
 * <ul>
 *   <li>Only {@link Leadership} proposes, only after phase 1 in its own ballot, at most one value
 *       an instance and ballot.
 *   <li>{@code promised} never decreases; nothing is accepted, promised or acknowledged below it.
 *   <li>Every decided instance's newest record in the log carries the decided value.
 *   <li>A member whose log was lost takes no part until {@link LostVotes} says so.
 *   <li>Decided instances are delivered in order from the one after {@link PersistedState#decided};
 *       what lies before that in the log is for the caller to replay.
 * </ul>
 */
public class RingCore {

    /**
     * A candidate may lag by this many windows behind a member that votes for it, and a vote be
     * this far ahead of the voter's own prefix: what a member keeps in memory is bounded by it.
     */
    static final int LAG_WINDOWS = 4;

    private final RingConfig config;
    private final Journal journal = new Journal();
    private final Prefix prefix;
    private final Acceptor acceptor;
    private Membership members;
    private VoteCount votes;
    private CatchUp catchUp;
    private final LostVotes lostVotes;
    private final Elections elections;
    private final Proposals proposals;
    private long lastTickNs;
    private boolean voteDue;
    private long applied;
    private long checkpointed;
    private long trimmable;
    private boolean isShort;
    private int askedForNews;

    /** Position of the record that ended the loss of votes. */
    private long rejoinedAt;

    RingCore(RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        this.config = config;
        this.prefix = new Prefix(state.decided(), state.lastTimestamp());
        this.acceptor = new Acceptor(journal, prefix, state);
        this.members = state.membership() == null ? config.initial() : state.membership();
        this.votes = new VoteCount(members);
        this.catchUp = new CatchUp(config, members);
        this.lostVotes = new LostVotes(state.incident());
        this.elections =
                new Elections(
                        config,
                        state,
                        imports,
                        acceptor,
                        prefix,
                        lostVotes,
                        members,
                        votes,
                        catchUp,
                        new Rules(),
                        nowNs);
        this.proposals = new Proposals(elections);
        this.lastTickNs = nowNs;
    }

    /** A member that starts, with what its log tells; {@code imports} is null for ring global. */
    public static RingCore recover(
            RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore(config, state, imports, nowNs);
    }

    /**
     * Queues a value for the next instance, or forwards it to the coordinator, if need be through
     * another member. False: none is known, or the queue is full. Nothing is sent or persisted
     * before {@link #flush}.
     */
    public boolean onPropose(byte[] value, int[] destinations, Effects effects) {
        return proposals.propose(value, destinations, effects);
    }

    /**
     * The same for a subscription. A skip asks the coordinator to move the ring's logical position
     * there soon; it may be lost, and is asked for again.
     */
    public boolean onPropose(Entry entry, Effects effects) {
        return proposals.propose(entry, effects);
    }

    /** A message of another process. */
    public void onMessage(int from, Message message, long nowNs, Effects effects) {
        int rank = members.rank(from);
        if (from == config.self()) {
            return;
        }
        if (rank < 0) {
            onForeign(from, message, nowNs, effects);
            return;
        }
        switch (message) {
            case Message.PreVote m -> elections.onPreVote(from, m, nowNs, effects);
            case Message.PreVoteReply m -> elections.onPreVoteReply(from, m, nowNs, effects);
            case Message.Prepare m -> elections.onPrepare(from, m, nowNs, effects);
            case Message.Promise m -> voteDue |= elections.onPromise(from, m, nowNs, effects);
            case Message.Nack m -> elections.onNack(m, nowNs);
            case Message.Open m -> onOpen(from, m, nowNs, effects);
            case Message.Accept m -> onAccept(m, nowNs, effects);
            case Message.Voted m -> onVoted(from, m, nowNs, effects);
            case Message.Heartbeat m -> onHeartbeat(from, m, nowNs, effects);
            case Message.HeartbeatAck m -> onHeartbeatAck(from, m, nowNs, effects);
            case Message.CatchUpRequest m -> onCatchUpRequest(from, m, effects);
            case Message.CatchUpReply m -> onCatchUpReply(from, m, nowNs, effects);
            case Message.Rejoin m -> elections.onRejoin(from, m, nowNs, effects);
            case Message.TooOld m -> onTooOld(from, m, nowNs, effects);
            case Message.Forward m -> proposals.onForward(from, m, nowNs, effects);
            case Message.ForwardEntry m -> proposals.onForward(from, m, nowNs, effects);
        }
    }

    /**
     * From a process that is no acceptor of this membership: a learner; one that was left behind by
     * a change and has to be told; or one of a membership that this member has yet to learn of.
     */
    private void onForeign(int from, Message message, long nowNs, Effects effects) {
        switch (message) {
            case Message.Forward m -> proposals.onForward(from, m, nowNs, effects);
            case Message.ForwardEntry m -> proposals.onForward(from, m, nowNs, effects);
            case Message.CatchUpRequest m -> onCatchUpRequest(from, m, effects);
            case Message.HeartbeatAck m -> {
                Leadership leadership = elections.leadership();
                if (leadership != null && leadership.ballot().equals(m.ballot())) {
                    leadership.answered(from, m, nowNs);
                }
            }
            case Message.CatchUpReply m -> onCatchUpReply(from, m, nowNs, effects);
            case Message.TooOld m -> onTooOld(from, m, nowNs, effects);
            case Message.PreVote m -> tell(from, m.decided(), effects);
            case Message.Rejoin m -> {
                tell(from, m.decided(), effects);
                if (members.contains(from)) {
                    elections.onRejoin(from, m, nowNs, effects);
                }
            }
            case Message.Prepare m -> hear(from, m.ballot(), m.decided());
            case Message.Open m -> hear(from, m.ballot(), m.base() - 1);
            case Message.Accept m -> hear(from, m.ballot(), m.decided());
            case Message.Voted m -> hear(from, m.ballot(), m.decided());
            case Message.Heartbeat m -> hear(from, m.ballot(), m.decided());
            default -> {}
        }
    }

    private void tell(int from, long decided, Effects effects) {
        if (decided < prefix.decided()) {
            effects.send(from, new Message.CatchUpReply(decided + 1, List.of(), prefix.decided()));
        }
        catchUp.heard(from, decided);
    }

    private void hear(int from, Ballot ballot, long decided) {
        if (ballot.generation() > members.generation()) {
            catchUp.heard(from, decided);
        }
    }

    /**
     * Begins a change of the ring's membership. It is in force once {@link #membership} says so;
     * until then a fail-over may have undone it. Only the coordinator takes it on.
     */
    public MembershipChange.Outcome onChange(MembershipChange change, long nowNs) {
        Leadership leadership = elections.leadership();
        if (leadership == null) {
            return new MembershipChange.Outcome(
                    MembershipChange.Result.NOT_COORDINATOR, "the coordinator is another replica");
        }
        return leadership.change(change, nowNs);
    }

    /**
     * To be called at {@link #nextTickNs} or a little later, after the messages that have already
     * come in.
     */
    public void onTick(long nowNs, Effects effects) {
        if (nowNs - lastTickNs > config.leaseNs() / 2) {
            // This process stood still: heartbeats may be waiting unread, so an election must not
            // be the first thing.
            elections.stoodStill(nowNs);
        }
        lastTickNs = nowNs;
        elections.checkMajority(nowNs);
        Leadership leadership = elections.leadership();
        if (leadership != null) {
            if (leadership.heartbeatDue(nowNs)) {
                elections.grant(config.self(), nowNs);
                leadership.keepShort(isShort);
                leadership.progress(applied, checkpointed, nowNs);
                leadership.heartbeat(nowNs, effects);
                trimmable = Math.max(trimmable, leadership.trimmable(nowNs));
            }
            leadership.announceWhenDue(nowNs, effects);
        } else if (elections.takesPart()) {
            elections.tick(nowNs, effects);
        } else {
            elections.forgetSilent(nowNs);
            lostVotes.ask(config, prefix.decided(), nowNs, effects);
            askForNews(nowNs, effects);
        }
        catchUp.tick(prefix.decided(), nowNs, effects);
        prefix.log(journal, effects);
    }

    /**
     * Who is no acceptor, and hears from no coordinator, may have missed that it became one: the
     * acceptors of the membership before may know, and have nothing more to say by themselves. One
     * after the other, because all would send the same; all within a lease, because some may be
     * silent.
     */
    private void askForNews(long nowNs, Effects effects) {
        List<Integer> others = members.others(config.self());
        if (members.rank(config.self()) < 0
                && !others.isEmpty()
                && elections.silentTooLong(nowNs, config.leaseNs() / others.size())) {
            int to = others.get(Math.floorMod(askedForNews++, others.size()));
            effects.send(to, new Message.CatchUpRequest(prefix.decided() + 1));
        }
    }

    /** The log is durable through {@link Effects#position}. */
    public void onPersisted(long position, long nowNs, Effects effects) {
        journal.onPersisted(position);
        acceptor.onPersisted();
        countOwnVote();
        voteDue |= elections.countOwnPromise(nowNs, effects);
        decide(nowNs, effects);
    }

    /**
     * Ring global's state moved: there may be something to import. Without this call the next
     * heartbeat looks.
     */
    public void onGlobalExecuted() {
        Leadership leadership = elections.leadership();
        if (leadership != null) {
            leadership.importsDue();
        }
    }

    /**
     * The learner fetched a checkpoint of a peer through this instance; the log may drop everything
     * through it.
     *
     * @param membership the newest that the checkpoint covers; null when it is the one that the
     *     ring began with
     */
    public void onCheckpointInstalled(
            long instance, @Nullable Membership membership, long nowNs, Effects effects) {
        catchUp.checkpointInstalled();
        if (instance > prefix.decided()) {
            elections.resign();
            prefix.jumpTo(instance);
            acceptor.forgetThrough(instance);
            LogRecord record =
                    new LogRecord.StartAfter(instance, prefix.lastTimestamp(), membership);
            if (membership != null && membership.generation() > members.generation()) {
                enter(instance, membership, record, nowNs, effects);
            } else {
                journal.append(record, effects);
            }
        }
    }

    /**
     * How far this member's learner executed, and through where it needs no log after a restart.
     * Told to the coordinator, which says what may be {@link #trimmable}.
     */
    public void onProgress(long appliedThrough, long checkpointedThrough) {
        applied = Math.max(applied, appliedThrough);
        checkpointed = Math.max(checkpointed, checkpointedThrough);
    }

    /** While true, and this member is the coordinator, members that lag hold no log back. */
    public void keepShort(boolean value) {
        isShort = value;
    }

    /** Timestamps given from now on are above this one. */
    public void witness(long timestamp) {
        prefix.witness(timestamp);
    }

    /**
     * Ends a round of events: forms instances of what is queued, coalesces votes. {@code wallMs}
     * stamps commands.
     */
    public void flush(long nowNs, long wallMs, Effects effects) {
        Leadership leadership = elections.leadership();
        if (leadership != null) {
            long before = journal.appended();
            leadership.flush(nowNs, wallMs, effects);
            voteDue |= journal.appended() > before;
        }
        if (voteDue && elections.takesPart() && acceptor.voting().equals(acceptor.promised())) {
            vote(effects);
        }
        voteDue = false;
        if (effects.needsSync()) {
            prefix.log(journal, effects);
        }
    }

    private void vote(Effects effects) {
        Ballot ballot = acceptor.voting();
        int to = config.acknowledgedAnywhere() ? Outbound.ALL : ballot.node();
        if (to != config.self()) {
            effects.vote(to, new Message.Voted(ballot, acceptor.through(), prefix.decided()));
        }
    }

    // ---- elections

    /** What tests replace in this class to see that it matters. */
    private final class Rules implements Elections.Rules {
        @Override
        public Ballot newBallot(long highestRoundSeen) {
            return RingCore.this.newBallot(highestRoundSeen);
        }

        @Override
        public Skips newSkips(long nowNs) {
            return RingCore.this.newSkips(nowNs);
        }

        @Override
        public int promisesNeeded() {
            return RingCore.this.promisesNeeded();
        }
    }

    /** A ballot that no one has used: above everything seen. */
    Ballot newBallot(long highestRoundSeen) {
        return new Ballot(members.generation(), highestRoundSeen + 1, config.self());
    }

    Skips newSkips(long nowNs) {
        return new Skips(config, nowNs);
    }

    int promisesNeeded() {
        return members.majority();
    }

    // ---- phase 2

    /** Takes a coordinator's word as its follower; false when its ballot is an old one. */
    private boolean heed(int from, Ballot ballot, long decided, long nowNs, Effects effects) {
        if (ballot.node() != from || ballot.generation() > members.generation()) {
            catchUp.heard(from, decided);
            return false;
        }
        if (ballot.below(acceptor.promised())) {
            effects.send(from, new Message.Nack(ballot, acceptor.promised()));
            return false;
        }
        elections.follow(from, ballot, nowNs);
        acceptor.promise(ballot, effects);
        acceptor.coordinatorDecided(ballot, decided);
        votes.decidedInBallot(ballot, decided);
        catchUp.heard(from, decided);
        return true;
    }

    private void onOpen(int from, Message.Open m, long nowNs, Effects effects) {
        if (heed(from, m.ballot(), m.base() - 1, nowNs, effects)) {
            if (m.ballot().above(acceptor.voting())) {
                acceptor.open(m.ballot(), m.base(), m.batches(), effects);
            }
            lostVotes.opened(m);
            voteDue = true;
            elections.notBefore(nowNs + config.leaseNs() / 2);
            countOwnVote();
            decide(nowNs, effects);
        }
    }

    private void onAccept(Message.Accept m, long nowNs, Effects effects) {
        int proposer = m.ballot().node();
        if (members.rank(proposer) < 0) {
            hear(proposer, m.ballot(), m.decided());
            return;
        }
        if (proposer == config.self()) {
            return;
        }
        if (heed(proposer, m.ballot(), m.decided(), nowNs, effects)) {
            passOn(m, effects);
            if (m.ballot().equals(acceptor.voting()) && hasRoom(m.instance())) {
                acceptor.accept(m.instance(), m.batch(), effects);
                voteDue = true;
            }
            elections.notBefore(nowNs + config.leaseNs() / 2);
            countOwnVote();
            decide(nowNs, effects);
        }
    }

    /** Whether or not this member takes it: those behind it may be further. */
    private static void passOn(Message.Accept m, Effects effects) {
        List<Integer> route = m.route();
        if (!route.isEmpty()) {
            effects.send(route.getFirst(), m.along(route.subList(1, route.size())));
        }
    }

    /** A member far behind first catches up, so that what it keeps in memory stays bounded. */
    private boolean hasRoom(long instance) {
        return instance <= prefix.decided() + (long) LAG_WINDOWS * config.windowInstances()
                && acceptor.acceptedBytes() < 2L * config.windowBytes();
    }

    private void onVoted(int from, Message.Voted m, long nowNs, Effects effects) {
        Leadership leadership = elections.leadership();
        catchUp.heard(from, m.decided());
        if (leadership != null && m.ballot().above(leadership.ballot())) {
            elections.stepDown(nowNs);
        }
        votes.vote(members.rank(from), m.ballot(), m.through());
        if (m.ballot().node() == from && m.ballot().equals(acceptor.promised())) {
            acceptor.coordinatorDecided(m.ballot(), m.decided());
            votes.decidedInBallot(m.ballot(), m.decided());
        }
        decide(nowNs, effects);
    }

    private void onHeartbeat(int from, Message.Heartbeat m, long nowNs, Effects effects) {
        if (!heed(from, m.ballot(), m.decided(), nowNs, effects)) {
            return;
        }
        trimmable = Math.max(trimmable, m.trimmable());
        elections.grant(from, nowNs);
        elections.awaitLease();
        countOwnVote();
        decide(nowNs, effects);
        // Not before: the coordinator would not open the ballot for this member again after a
        // crash.
        boolean opened = m.ballot().equals(acceptor.voting()) && acceptor.openingIsDurable();
        long through = opened ? acceptor.durableThrough() : 0;
        boolean learner = members.contains(config.self()) && members.rank(config.self()) < 0;
        // A learner without its votes is not to be promoted: it could not vote.
        if (lostVotes.outside() || !elections.takesPart() && !learner) {
            return;
        }
        Message.HeartbeatAck ack =
                new Message.HeartbeatAck(
                        m.ballot(),
                        m.sentNs(),
                        learner ? 0 : through,
                        prefix.decided(),
                        applied,
                        checkpointed);
        // After a crash before that it would be outside again, and need the opening once more,
        // which
        // the coordinator does not send to whom it counts a vote of.
        boolean takesPartForGood = rejoinedAt <= journal.durable();
        if (acceptor.promiseIsDurable() && takesPartForGood) {
            effects.send(from, ack);
        } else {
            effects.sendAfterPersist(from, ack);
        }
    }

    private void onHeartbeatAck(int from, Message.HeartbeatAck m, long nowNs, Effects effects) {
        Leadership leadership = elections.leadership();
        int rank = members.rank(from);
        catchUp.heard(from, m.decided());
        if (leadership != null && leadership.ballot().equals(m.ballot())) {
            leadership.answered(from, m, nowNs);
            leadership.acknowledged(rank, m.sentNs(), m.decided(), nowNs);
            votes.vote(rank, m.ballot(), m.through());
            decide(nowNs, effects);
        }
    }

    private void countOwnVote() {
        if (!elections.takesPart()) {
            return;
        }
        votes.vote(members.rank(config.self()), acceptor.voting(), acceptor.durableThrough());
    }

    private void decide(long nowNs, Effects effects) {
        while (prefix.decided() < votes.chosen()) {
            AcceptedValue value = acceptor.accepted(prefix.decided() + 1);
            if (value == null || value.ballot().below(votes.ballot())) {
                break;
            }
            decided(value.instance(), value.batch(), nowNs, effects);
        }
        if (lostVotes.over(prefix.decided())) {
            rejoinedAt = journal.append(lostVotes.end(), effects);
            voteDue = true;
            elections.notBefore(nowNs + config.leaseNs());
        }
        voteDue |= elections.leadIfCaughtUp(nowNs, effects);
    }

    private void decided(long instance, Batch batch, long nowNs, Effects effects) {
        Leadership leadership = elections.leadership();
        prefix.decide(instance);
        prefix.witness(batch.lastTimestamp());
        acceptor.forgetThrough(instance);
        if (leadership != null) {
            leadership.decided(instance, batch);
        }
        effects.deliver(new Decision(instance, batch));
        Membership next = batch.membership();
        if (next != null) {
            Invariant.check(
                    next.generation() == members.generation() + 1, "%s after %s", next, members);
            if (leadership != null) {
                // Afterwards there is nobody who would.
                leadership.announce(effects);
            }
            enter(instance, next, new LogRecord.Members(instance, next), nowNs, effects);
        }
    }

    // ---- membership

    /**
     * Everything through the instance is decided, and from the next one on others may be the ones
     * who decide. Ballots of the new generation begin with phase 1, of the new members, so nothing
     * carries over but the decided prefix; and as nobody proposes anything behind a change in the
     * generation before, nothing of that generation can be decided there. A member takes part in
     * the new generation only once it has the whole prefix, which is durable before its first
     * promise.
     *
     * <p>The coordinator's lease holds across the change: whoever enters waits for a lease, and the
     * coordinator extends its own no more once it has proposed the change. So memberships need not
     * intersect.
     */
    private void enter(
            long instance, Membership next, LogRecord record, long nowNs, Effects effects) {
        acceptor.enter(instance, next.generation(), record, effects);
        members = next;
        votes = new VoteCount(next);
        catchUp = new CatchUp(config, next);
        elections.enter(members, votes, catchUp, nowNs, effects);
    }

    // ---- catch-up

    /**
     * A member whose log was lost sends nobody on to a checkpoint: what it alone knew to be decided
     * the others can still decide again from their own logs, for those who follow the ring itself
     * and have no use for a state.
     */
    private void onCatchUpRequest(int from, Message.CatchUpRequest m, Effects effects) {
        if (m.from() <= prefix.decided() && !lostVotes.outside()) {
            effects.read(new ReadDecided(from, m.from(), prefix.decided()));
        } else {
            effects.send(from, new Message.CatchUpReply(m.from(), List.of(), prefix.decided()));
        }
    }

    private void onCatchUpReply(int from, Message.CatchUpReply m, long nowNs, Effects effects) {
        catchUp.heard(from, m.decided());
        long before = prefix.decided();
        long instance = m.from();
        for (Batch batch : m.batches()) {
            if (instance == prefix.decided() + 1) {
                learn(instance, batch, nowNs, effects);
            }
            instance++;
        }
        boolean moved = prefix.decided() > before;
        // The answer may have brought another membership, and with it a new CatchUp.
        catchUp.heard(from, m.decided());
        catchUp.answered(from, m.from(), moved, prefix.decided(), nowNs, effects);
        if (moved) {
            elections.caughtUpFurther(nowNs);
        }
        decide(nowNs, effects);
    }

    private void onTooOld(int from, Message.TooOld m, long nowNs, Effects effects) {
        catchUp.heard(from, m.decided());
        catchUp.tooOld(from, m.from(), m.firstAvailable(), prefix.decided(), nowNs, effects);
    }

    private void learn(long instance, Batch batch, long nowNs, Effects effects) {
        Leadership leadership = elections.leadership();
        if (leadership != null && !leadership.proposed(instance, batch)) {
            elections.stepDown(nowNs);
        }
        AcceptedValue own = acceptor.accepted(instance);
        // Behind a vote in an older ballot the log may have one of an opening that a crash cut off.
        if (own == null || !own.batch().equals(batch) || own.ballot().below(acceptor.promised())) {
            prefix.log(journal, effects);
            journal.append(new LogRecord.Chosen(instance, batch), effects);
            prefix.loggedThrough(instance);
        }
        decided(instance, batch, nowNs, effects);
    }

    // ---- what the caller may ask

    /** Who takes part in what follows the decided prefix. */
    public Membership membership() {
        return members;
    }

    /**
     * Through where this member's log may go: its own state has it for good, and as the coordinator
     * said, so has that of a majority, and all who are alive have executed it. To one that is no
     * member no coordinator says anything, and nobody relies on its log.
     */
    public long trimmable() {
        return members.contains(config.self()) ? Math.min(trimmable, checkpointed) : checkpointed;
    }

    /**
     * What counts of this member's records of instances, when all that it wants persisted has been
     * appended: through where they are decided, and the votes above. A log may lose all others of
     * instances that are checkpointed or not decided. Null: not now, because votes are left of
     * which only their place in the log tells that they count.
     */
    public @Nullable List<LogRecord> standing() {
        List<LogRecord> records = new ArrayList<>();
        records.add(new LogRecord.DecidedThrough(prefix.decided(), prefix.lastTimestamp()));
        for (AcceptedValue vote : acceptor.acceptedValues()) {
            if (!vote.ballot().equals(acceptor.voting())) {
                return null;
            }
            records.add(new LogRecord.Accepted(vote.instance(), vote.ballot(), vote.batch()));
        }
        return records;
    }

    /** Replica id of the coordinator as far as known, or -1. */
    public int coordinator() {
        return elections.coordinator();
    }

    /** Replica id of whom proposals are sent to, or -1: the coordinator, or who may hear it. */
    public int proposalsGoTo() {
        return elections.proposalsGoTo();
    }

    /** Whether this member is the coordinator and takes proposals. */
    public boolean leading() {
        return elections.leadership() != null;
    }

    /**
     * The instance whose execution a linearizable read must wait for, or -1 without a lease. Unless
     * {@link RingConfig#acknowledgedAnywhere}, this relies on the coordinator alone acknowledging
     * commands to clients.
     */
    public long leaseInstance(long nowNs) {
        Leadership leadership = elections.leadership();
        return leadership != null && leaseRemainingNs(nowNs) > 0 ? leadership.readInstance() : -1;
    }

    /**
     * Begins a linearizable read that needs no lease but a round trip to a majority; null when this
     * member is not the coordinator. The next {@link #onTick} asks, which is due at once.
     */
    public @Nullable ReadIndex onRead(long nowNs) {
        Leadership leadership = elections.leadership();
        return leadership == null ? null : leadership.readIndex(nowNs);
    }

    /** What became of a read that {@link #onRead} began. */
    public ReadIndex.State state(ReadIndex read) {
        Leadership leadership = elections.leadership();
        if (leadership == null || !leadership.ballot().equals(read.ballot())) {
            return ReadIndex.State.LOST;
        }
        return leadership.confirmedSince(read.sinceNs())
                ? ReadIndex.State.CONFIRMED
                : ReadIndex.State.WAITING;
    }

    /** How long no other member can be elected, by this member's clock; 0 without a lease. */
    public long leaseRemainingNs(long nowNs) {
        Leadership leadership = elections.leadership();
        return leadership == null ? 0 : Math.max(0, leadership.leaseUntilNs() - nowNs);
    }

    /**
     * Whether this member lost its votes and takes no part until every other member of the ring has
     * been reached.
     */
    public boolean rejoining() {
        return lostVotes.outside();
    }

    /** The decided prefix. */
    public long decided() {
        return prefix.decided();
    }

    /** The highest ballot that this member promised. */
    public Ballot ballot() {
        return acceptor.promised();
    }

    /** At least the highest timestamp in anything this member voted for or learned. */
    public long lastTimestamp() {
        return prefix.lastTimestamp();
    }

    /** When {@link #onTick} is due next. */
    public long nextTickNs() {
        long due = Math.min(lastTickNs + config.heartbeatNs(), elections.nextTickNs());
        return Math.min(due, catchUp.nextTickNs(prefix.decided()));
    }
}
