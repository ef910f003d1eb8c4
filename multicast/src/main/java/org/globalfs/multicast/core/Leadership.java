package org.globalfs.multicast.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.multicast.MembershipChange.Result;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * The coordinator's part, for one ballot that this member was elected with: proposes, keeps the
 * lease, sends again what got lost.
 *
 * <p>Instances are proposed consecutively. The first ones carry what phase 1 found, then comes the
 * barrier: once it is decided, everything that earlier ballots may have decided is, and executing
 * it makes a local read current.
 */
final class Leadership {

    private static final int MAX_QUEUED_IMPORTS = 1024;
    private static final int RESEND_AFTER_HEARTBEATS = 3;

    private final RingConfig config;
    private final Membership members;
    private final Acceptor acceptor;
    private final Prefix prefix;
    private final VoteCount votes;
    private final @Nullable ImportSource imports;
    private final Skips skips;
    private final Ballot ballot;
    private final long electedNs;
    private final long base;
    private final int selfRank;
    private final long[] echoedNs;
    private final long[] heardNs;
    private final long[] peerDecided;
    private final long[] seenThrough;
    private final long[] movedNs;
    private final Route route;
    private final ArrayDeque<Entry> queue = new ArrayDeque<>();
    private long queuedBytes;
    private int queuedImports;
    private long outstandingBytes;
    private long next;
    private long lastAtHeartbeat;
    private long barrier;
    private long heartbeatDueNs;
    private final Announcement announcement;
    private long majorityEchoNs;
    private long importCursor;
    private boolean importsDue;
    private final Retention retention;

    /** The decided prefix when a heartbeat was sent, of the last few by their clock. */
    private final TreeMap<Long, Long> heartbeats = new TreeMap<>();

    private final Map<Integer, Ack> acks = new TreeMap<>();

    /** When a member that lost its votes last asked to take part again, by id. */
    private final Map<Integer, Long> askedToRejoinNs = new TreeMap<>();

    /** Incidents, see {@link LostVotes}. */
    private List<Long> readmitted;

    /** What the ring is to become; nothing is proposed behind it. */
    private @Nullable Membership change;

    private boolean changeProposed;

    /** When the lease that holds at a change was last extended. */
    private long frozenEchoNs;

    /** A member's newest answer to a heartbeat, and how far behind that heartbeat it was. */
    private record Ack(long sentNs, long lag) {}

    Leadership(
            RingConfig config,
            Membership members,
            Acceptor acceptor,
            Prefix prefix,
            VoteCount votes,
            @Nullable ImportSource imports,
            Skips skips,
            Ballot ballot,
            List<Long> readmitted,
            long nowNs) {
        this.config = config;
        this.members = members;
        this.retention = new Retention(config, members);
        this.acceptor = acceptor;
        this.prefix = prefix;
        this.votes = votes;
        this.imports = imports;
        this.skips = skips;
        this.ballot = ballot;
        this.readmitted = readmitted;
        this.electedNs = nowNs;
        this.base = prefix.decided() + 1;
        this.next = base;
        this.selfRank = members.rank(config.self());
        this.echoedNs = new long[members.size()];
        Arrays.fill(echoedNs, nowNs - 2 * config.leaseNs());
        this.heardNs = echoedNs.clone();
        this.peerDecided = new long[members.size()];
        this.seenThrough = new long[members.size()];
        this.movedNs = new long[members.size()];
        Arrays.fill(movedNs, nowNs);
        this.route = new Route(config, members.acceptors(), members.learners(), nowNs);
        this.majorityEchoNs = nowNs;
        this.heartbeatDueNs = nowNs;
        this.announcement = new Announcement(config);
        if (imports != null) {
            importCursor = imports.importedThrough(config.ring());
            importsDue = true;
        }
    }

    /** Proposes what phase 1 found, and the barrier. */
    void open(List<Batch> found, Effects effects) {
        List<Batch> batches = new ArrayList<>(found);
        Membership begun = begunChange(found);
        if (begun == null) {
            batches.add(Batch.of(new Entry.Noop()));
        } else {
            freezeLease();
            change = begun;
            changeProposed = true;
            readmitted = List.of();
        }
        effects.send(Outbound.ALL, new Message.Open(ballot, base, batches, readmitted));
        acceptor.open(ballot, base, batches, effects);
        for (Batch batch : batches) {
            outstandingBytes += batch.sizeBytes();
        }
        next = base + batches.size();
        barrier = next - 1;
    }

    /** A change that an earlier ballot began is finished, and nothing may come behind it. */
    private static @Nullable Membership begunChange(List<Batch> found) {
        for (int i = 0; i < found.size(); i++) {
            if (found.get(i).membership() != null) {
                Invariant.check(i == found.size() - 1, "values behind a change of membership");
                return found.get(i).membership();
            }
        }
        return null;
    }

    Ballot ballot() {
        return ballot;
    }

    /** Begins a change of the ring's membership, if it is one that can be finished. */
    MembershipChange.Outcome change(MembershipChange wanted, long nowNs) {
        Membership next = wanted.applyTo(members);
        String objection = wanted.objection(members);
        if (!objection.isEmpty() || next.generation() > Membership.MAX_GENERATION) {
            String reason = objection.isEmpty() ? "the ring has changed too often" : objection;
            return new MembershipChange.Outcome(Result.REFUSED, reason);
        }
        if (next.equals(members)) {
            return new MembershipChange.Outcome(Result.UNCHANGED, "");
        }
        String wait = whyNotYet(wanted, nowNs);
        if (!wait.isEmpty()) {
            return new MembershipChange.Outcome(Result.NOT_YET, wait);
        }
        long ready = next.acceptors().stream().filter(id -> reason(id, nowNs).isEmpty()).count();
        if (ready < next.majority()) {
            return new MembershipChange.Outcome(
                    Result.REFUSED,
                    "only "
                            + ready
                            + " of the acceptors that there would then be, "
                            + next.acceptors()
                            + ", answer and are up to date: the ring would stand still");
        }
        freezeLease();
        change = next;
        return new MembershipChange.Outcome(Result.PROPOSED, "");
    }

    /**
     * A moment is given to all who stay: whoever misses several changes in a row may not know where
     * those are who could tell it.
     */
    private String whyNotYet(MembershipChange wanted, long nowNs) {
        if (change != null) {
            return "another change of the ring is under way";
        }
        if (prefix.decided() < barrier) {
            return "the coordinator was elected just now";
        }
        for (int id : wanted.newAcceptors()) {
            String reason = reason(id, nowNs);
            if (!reason.isEmpty()) {
                return reason;
            }
        }
        if (nowNs - electedNs < 2 * config.leaseNs()) {
            for (int id : wanted.applyTo(members).acceptors()) {
                if (id != config.self() && !acks.containsKey(id)) {
                    return "the ring changed just now, and replica " + id + " has yet to follow";
                }
            }
        }
        return "";
    }

    /** Why a member cannot be relied on to vote at once; empty when it can. */
    private String reason(int id, long nowNs) {
        Ack ack = acks.get(id);
        if (id == config.self()) {
            return "";
        }
        if (nowNs - askedToRejoinNs.getOrDefault(id, nowNs - config.leaseNs()) < config.leaseNs()) {
            return "replica "
                    + id
                    + " lost its log, and has yet to take part again: it does by itself once the"
                    + " ring has let it in and it has caught up";
        }
        if (ack == null || nowNs - ack.sentNs > config.leaseNs() / 4 * 3) {
            return "replica " + id + " does not answer";
        }
        return ack.lag > (long) RingCore.LAG_WINDOWS * config.windowInstances()
                ? "replica " + id + " is " + ack.lag + " instances behind"
                : "";
    }

    /**
     * Whoever decides in the next membership waits for one lease from when it learned of it, so
     * this one must not last longer than from now.
     */
    private void freezeLease() {
        frozenEchoNs = VoteCount.majorityOf(echoedNs, members.majority());
    }

    /** Any member, acceptor or not, answers a heartbeat. */
    void answered(int id, Message.HeartbeatAck m, long nowNs) {
        retention.heard(id, m.applied(), m.checkpointed(), nowNs);
        Long decidedThen = heartbeats.get(m.sentNs());
        if (decidedThen != null) {
            acks.put(id, new Ack(m.sentNs(), decidedThen - m.decided()));
        }
    }

    /** What this member itself executed, and could replay from. */
    void progress(long applied, long checkpointed, long nowNs) {
        retention.heard(config.self(), applied, checkpointed, nowNs);
    }

    /** While true, members that lag hold nothing back. */
    void keepShort(boolean value) {
        retention.keepShort(value);
    }

    long trimmable(long nowNs) {
        return retention.trimmable(nowNs);
    }

    boolean enqueue(byte[] value, int[] destinations) {
        int size = Batch.sizeBytes(value, destinations);
        if (queuedBytes + size > config.queueBytes()) {
            return false;
        }
        queue.add(new Entry.Command(0, value, destinations));
        queuedBytes += size;
        return true;
    }

    /** A skip is only noted: the next one goes at least there. */
    boolean enqueue(Entry entry) {
        if (entry instanceof Entry.Skip skip) {
            skips.want(skip.position());
            return true;
        }
        int size = Batch.sizeBytes(entry);
        if (queuedBytes + size > config.queueBytes()) {
            return false;
        }
        queue.add(entry);
        queuedBytes += size;
        return true;
    }

    /** What waits there for its first proposal; imports are looked up anew. */
    void takeQueueOf(Leadership former) {
        for (Entry entry : former.queue) {
            if (!(entry instanceof Entry.Import)) {
                enqueue(entry);
            }
        }
    }

    void importsDue() {
        importsDue = imports != null;
    }

    /** Forms instances of what is queued, as far as the window allows. */
    void flush(long nowNs, long wallMs, Effects effects) {
        form(nowNs, wallMs, effects);
        announcement.schedule(prefix.decided(), nowNs);
    }

    private void form(long nowNs, long wallMs, Effects effects) {
        if (change != null && !changeProposed) {
            changeProposed = true;
            propose(Batch.of(new Entry.Members(change)), effects);
        }
        boolean skip = skips.pending(nowNs, prefix.hybridMs(wallMs));
        if (change != null) {
            return;
        }
        queueImports();
        while ((!queue.isEmpty() || skip)
                && next - 1 - prefix.decided() < config.windowInstances()
                && outstandingBytes < config.windowBytes()) {
            propose(nextBatch(wallMs, skip), effects);
            skip = false;
        }
    }

    private void queueImports() {
        while (importsDue && imports != null && queuedImports < MAX_QUEUED_IMPORTS) {
            long instance = imports.nextConcerning(config.ring(), importCursor);
            if (instance < 0) {
                importsDue = false;
                return;
            }
            Invariant.check(
                    instance > importCursor, "import of %s after %s", instance, importCursor);
            importCursor = instance;
            queuedImports++;
            Entry entry = new Entry.Import(instance);
            queuedBytes += Batch.sizeBytes(entry);
            queue.add(entry);
        }
    }

    private Batch nextBatch(long wallMs, boolean skip) {
        List<Entry> entries = new ArrayList<>();
        int bytes = 0;
        for (Entry entry = queue.peek(); entry != null; entry = queue.peek()) {
            int size = Batch.sizeBytes(entry);
            if (!entries.isEmpty() && bytes + size > config.batchBytes()) {
                break;
            }
            queue.remove();
            queuedBytes -= size;
            bytes += size;
            if (entry instanceof Entry.Command command) {
                entries.add(
                        new Entry.Command(
                                prefix.stamp(wallMs), command.value(), command.destinations()));
            } else {
                queuedImports -= entry instanceof Entry.Import ? 1 : 0;
                entries.add(entry);
            }
        }
        if (skip) {
            entries.add(skips.take(prefix.hybridMs(wallMs)));
        }
        return new Batch(entries);
    }

    private void propose(Batch batch, Effects effects) {
        route.send(new Message.Accept(ballot, next, batch, prefix.decided()), effects);
        announcement.made(prefix.decided());
        acceptor.accept(next, batch, effects);
        Invariant.check(acceptor.through() >= next, "own vote for %s is missing", next);
        outstandingBytes += batch.sizeBytes();
        skips.proposed(batch);
        next++;
    }

    /**
     * Whether the instance, decided elsewhere, is what this ballot proposed; if not, a higher
     * ballot exists.
     */
    boolean proposed(long instance, Batch batch) {
        AcceptedValue own = acceptor.accepted(instance);
        return own != null && own.ballot().equals(ballot) && own.batch().equals(batch);
    }

    void decided(long instance, Batch batch) {
        if (instance >= base) {
            outstandingBytes -= batch.sizeBytes();
        }
        acceptor.coordinatorDecided(ballot, instance);
    }

    boolean readmits(long incident) {
        return readmitted.contains(incident);
    }

    /** A member that lost its votes cannot vote, whatever it acknowledged before. */
    void asksToRejoin(int id, long nowNs) {
        acks.remove(id);
        askedToRejoinNs.put(id, nowNs);
    }

    /** Whether the ring is about to have another membership. */
    boolean changing() {
        return change != null;
    }

    /** A member that takes no part lives, and is this far. */
    void heard(int rank, long decided, long nowNs) {
        peerDecided[rank] = Math.max(peerDecided[rank], decided);
        heardNs[rank] = nowNs;
    }

    /** Whether all members acknowledge heartbeats, but perhaps these. */
    boolean hearsAllBut(Set<Integer> ranks, long nowNs) {
        for (int rank = 0; rank < members.size(); rank++) {
            boolean silent = rank != selfRank && nowNs - heardNs[rank] >= config.leaseNs();
            if (silent && !ranks.contains(rank)) {
                return false;
            }
        }
        return true;
    }

    void acknowledged(int rank, long sentNs, long decided, long nowNs) {
        heard(rank, decided, nowNs);
        if (sentNs > echoedNs[rank]) {
            route.roundTrip(rank, nowNs - sentNs);
        }
        echoedNs[rank] = Math.max(echoedNs[rank], sentNs);
        majorityEchoNs =
                Math.max(majorityEchoNs, VoteCount.majorityOf(echoedNs, members.majority()));
    }

    /** Tells the others what is decided if nothing else has told them for a while. */
    void announceWhenDue(long nowNs, Effects effects) {
        if (announcement.isDue(nowNs)) {
            announce(effects);
        }
    }

    /** Tells the others what is decided, where they do not learn it from each other's votes. */
    void announce(Effects effects) {
        if (!config.acknowledgedAnywhere()) {
            effects.send(
                    Outbound.ALL,
                    new Message.Voted(ballot, acceptor.durableThrough(), prefix.decided()));
            announcement.made(prefix.decided());
        }
    }

    boolean heartbeatDue(long nowNs) {
        return nowNs >= heartbeatDueNs;
    }

    void heartbeat(long nowNs, Effects effects) {
        heartbeatDueNs = nowNs + config.heartbeatNs();
        heartbeats.put(nowNs, prefix.decided());
        heartbeats.headMap(nowNs - config.leaseNs()).clear();
        importsDue();
        acknowledged(selfRank, nowNs, prefix.decided(), nowNs);
        effects.send(
                Outbound.ALL,
                new Message.Heartbeat(
                        ballot, prefix.decided(), next - 1, nowNs, retention.trimmable(nowNs)));
        announcement.made(prefix.decided());
        for (int rank = 0; rank < members.size(); rank++) {
            if (rank != selfRank) {
                resend(rank, nowNs, effects);
            }
        }
        lastAtHeartbeat = next - 1;
        route.choose(heardNs, nowNs);
    }

    /**
     * A member that lives but whose vote stands still lost an Accept: it gets what is undecided
     * once more. One that is on the route depends on others for what it gets, so this is noticed
     * sooner there: when it missed the time to vote for what was proposed a heartbeat ago.
     */
    private void resend(int rank, long nowNs, Effects effects) {
        long through = votes.ballot().equals(ballot) ? votes.through(rank) : 0;
        boolean routed = route.has(rank);
        long last = routed ? lastAtHeartbeat : next - 1;
        if (through >= last || through != seenThrough[rank]) {
            seenThrough[rank] = through;
            movedNs[rank] = nowNs;
            return;
        }
        boolean able =
                nowNs - heardNs[rank] < config.leaseNs()
                        && peerDecided[rank]
                                        + (long) RingCore.LAG_WINDOWS * config.windowInstances()
                                > prefix.decided();
        boolean othersMove = Math.max(votes.through(selfRank), votes.chosen()) > through;
        long patienceNs =
                routed && othersMove
                        ? route.voteNs(rank)
                        : RESEND_AFTER_HEARTBEATS * config.heartbeatNs();
        if (!able || nowNs - movedNs[rank] < patienceNs) {
            return;
        }
        movedNs[rank] = nowNs;
        if (routed) {
            route.broken(rank, nowNs);
        }
        if (through == 0) {
            sendOpen(members.acceptor(rank), effects);
        } else {
            sendProposals(members.acceptor(rank), through, effects);
        }
    }

    /** What of the opening is not decided yet; after that the member takes part like any other. */
    void sendOpen(int member, Effects effects) {
        List<Batch> batches = new ArrayList<>();
        for (long instance = prefix.decided() + 1; instance <= barrier; instance++) {
            batches.add(proposal(instance));
        }
        effects.send(member, new Message.Open(ballot, prefix.decided() + 1, batches, readmitted));
    }

    private void sendProposals(int member, long through, Effects effects) {
        long bytes = 0;
        long from = Math.max(through, prefix.decided()) + 1;
        for (long instance = from;
                instance < next && bytes < config.windowBytes() / 4;
                instance++) {
            Batch batch = proposal(instance);
            bytes += batch.sizeBytes();
            effects.send(member, new Message.Accept(ballot, instance, batch, prefix.decided()));
        }
    }

    private Batch proposal(long instance) {
        AcceptedValue value = acceptor.accepted(instance);
        Invariant.check(
                value != null && value.ballot().equals(ballot), "proposal %s is gone", instance);
        return value.batch();
    }

    boolean lostMajority(long nowNs) {
        return nowNs - majorityEchoNs > 2 * config.leaseNs();
    }

    /**
     * The end of the lease by this member's clock, shortened by what another's clock may run
     * faster.
     */
    long leaseUntilNs() {
        long echoed =
                change != null ? frozenEchoNs : VoteCount.majorityOf(echoedNs, members.majority());
        return echoed + config.leaseNs() - config.leaseNs() / 1000 * config.driftPermille();
    }

    ReadIndex readIndex(long nowNs) {
        heartbeatDueNs = Math.min(heartbeatDueNs, nowNs);
        return new ReadIndex(ballot, nowNs, readInstance());
    }

    /** Whether a majority answered what was sent then or later. */
    boolean confirmedSince(long sinceNs) {
        return VoteCount.majorityOf(echoedNs, members.majority()) >= sinceNs;
    }

    long readInstance() {
        return config.acknowledgedAnywhere() ? next - 1 : Math.max(barrier, prefix.decided());
    }

    long nextTickNs() {
        return Math.min(announcement.dueNs(), Math.min(heartbeatDueNs, skips.dueNs()));
    }
}
