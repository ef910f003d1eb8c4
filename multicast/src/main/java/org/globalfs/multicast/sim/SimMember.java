package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.Decision;
import org.globalfs.multicast.core.Effects;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.core.Outbound;
import org.globalfs.multicast.core.PersistedState;
import org.globalfs.multicast.core.ReadDecided;
import org.globalfs.multicast.core.ReadIndex;
import org.globalfs.multicast.core.RingConfig;
import org.globalfs.multicast.core.RingCore;
import org.jspecify.annotations.Nullable;

/**
 * One process's member of one ring: drives the core as the runtime does, with a disk that loses
 * what was not synced.
 */
final class SimMember {

    private static final int CATCH_UP_INSTANCES = 20;

    private final SimCluster cluster;
    private final SimProcess process;
    private final RingConfig config;
    private final SimDisk disk;
    private RingCore core;
    private Effects effects = new Effects();
    private boolean flushPending;
    private long syncedAtNs;
    private long tickNs = Long.MAX_VALUE;
    private long nextDelivery;

    /** A checkpoint covers what is decided through here and not handed on yet. */
    private long installed;

    private long leaseInstance = -1;
    private long leaseUntilNs;
    private boolean leading;
    private final List<IndexedRead> indexed = new ArrayList<>();

    private record IndexedRead(ReadIndex read, LongConsumer answer) {}

    SimMember(SimCluster cluster, SimProcess process, RingConfig config) {
        this.cluster = cluster;
        this.process = process;
        this.config = config;
        this.disk = cluster.plan().disks().get();
        this.core = start(null);
    }

    private RingCore start(@Nullable ImportSource imports) {
        effects = new Effects();
        flushPending = false;
        syncedAtNs = 0;
        tickNs = Long.MAX_VALUE;
        leaseInstance = -1;
        leading = false;
        indexed.clear();
        RingCore started =
                cluster.plan().cores().create(config, disk.recover(), imports, process.localNs());
        nextDelivery = started.decided() + 1;
        installed = 0;
        return started;
    }

    int ring() {
        return config.ring();
    }

    RingCore core() {
        return core;
    }

    SimDisk disk() {
        return disk;
    }

    void crash() {
        disk.crash(cluster.simulation());
    }

    /** While down: the log is gone, the state is not. */
    void loseLog(SimReplica replica) {
        long incident = cluster.simulation().between(1, Long.MAX_VALUE - 1);
        long applied = Math.min(replica.applied(), process.merge().keeps(ring()));
        disk.replace(
                incident, applied, replica.lastTimestamp(), replica.state().membershipAt(applied));
    }

    /** Starts with what the disk has and hands the replica what its state misses of it. */
    void restart(SimReplica replica, @Nullable ImportSource imports) {
        core = start(imports);
        core.witness(replica.lastTimestamp());
        core.onProgress(
                replica.applied(), Math.min(replica.applied(), cluster.mergedEverywhere(ring())));
        PersistedState state = disk.recover();
        long applied = replica.applied();
        if (applied + 1 < disk.firstAvailable()) {
            throw new Checker.Violation(
                    "the log of "
                            + this
                            + " begins at "
                            + disk.firstAvailable()
                            + ", its state ends at "
                            + applied);
        }
        long instance = applied + 1;
        List<Batch> batches = disk.read(instance, state.decided());
        if (applied + batches.size() < state.decided()) {
            throw new Checker.Violation("hole in the decided prefix of " + this);
        }
        for (Batch batch : batches) {
            replica.decided(instance++, batch);
        }
        settle();
    }

    boolean propose(byte[] value, int[] destinations) {
        boolean taken = core.onPropose(value, destinations, effects);
        settle();
        return taken;
    }

    void propose(Entry entry) {
        boolean _ = core.onPropose(entry, effects);
        settle();
    }

    void receive(int from, Message message) {
        cluster.simulation()
                .note(1, ring() * 100L + process.id(), message.getClass().getName().hashCode());
        core.onMessage(from, message, process.localNs(), effects);
        settle();
    }

    void globalExecuted() {
        core.onGlobalExecuted();
        settle();
    }

    /** The state is durable through {@code checkpointed}; of the log less than that may go. */
    void trim(long applied, long checkpointed, int kept) {
        core.onProgress(applied, checkpointed);
        disk.trim(Math.min(checkpointed, core.trimmable()) - kept);
    }

    void change(MembershipChange change) {
        if (core.onChange(change, process.localNs()).result() == MembershipChange.Result.PROPOSED) {
            cluster.coverage().count(Coverage.Kind.CHANGES_PROPOSED);
        }
        settle();
    }

    void checkpointInstalled(long instance, long lastTimestamp, @Nullable Membership membership) {
        core.witness(lastTimestamp);
        nextDelivery = Math.max(nextDelivery, instance + 1);
        installed = instance;
        core.onCheckpointInstalled(instance, membership, process.localNs(), effects);
        settle();
    }

    /** After an event: ends the round now, or lets it gather more events. */
    private void settle() {
        if (flushPending) {
            return;
        }
        if (cluster.simulation().chance(0.3)) {
            flushPending = true;
            process.after(cluster.simulation().between(0, Simulation.MS), this::flush);
        } else {
            flush();
        }
    }

    private void flush() {
        flushPending = false;
        core.flush(process.localNs(), process.wallMs(), effects);
        publish();
        answerReads();
        Effects round = effects;
        effects = new Effects();
        if (execute(round)) {
            process.witness(core.lastTimestamp());
            scheduleTick();
        }
    }

    /** What clients of this process go by; it changes before anything decided is handed on. */
    private void publish() {
        long localNs = process.localNs();
        long remaining = core.leaseRemainingNs(localNs);
        leaseInstance = core.leaseInstance(localNs);
        leaseUntilNs = localNs + remaining;
        Checker.check(remaining > 0 == leaseInstance >= 0, "lease instance without lease");
        if (core.leading() && !leading) {
            cluster.coverage().count(Coverage.Kind.ELECTIONS);
        }
        leading = core.leading();
        if (remaining > 0) {
            long nowNs = cluster.simulation().nowNs();
            cluster.checker()
                    .lease(
                            ring(),
                            process.id(),
                            process.incarnation(),
                            nowNs,
                            nowNs + process.realNs(remaining),
                            leaseInstance);
        }
    }

    /** The instance that a linearizable read must wait for, or -1. */
    long leaseInstance() {
        return leaseUntilNs > process.localNs() ? leaseInstance : -1;
    }

    /** A read without a lease: told the instance once it is confirmed, or -1. */
    void readIndex(LongConsumer answer) {
        ReadIndex read = core.onRead(process.localNs());
        if (read == null) {
            answer.accept(-1);
            return;
        }
        indexed.add(new IndexedRead(read, answer));
        settle();
    }

    private void answerReads() {
        for (IndexedRead waiting : List.copyOf(indexed)) {
            ReadIndex.State state = core.state(waiting.read);
            if (state != ReadIndex.State.WAITING) {
                indexed.remove(waiting);
                boolean confirmed = state == ReadIndex.State.CONFIRMED;
                cluster.coverage().count(Coverage.Kind.INDEXED_READS);
                waiting.answer.accept(confirmed ? waiting.read.instance() : -1);
            }
        }
    }

    /** Whether this member is the coordinator, as clients of the process are told. */
    boolean leading() {
        return leading;
    }

    /** False: the disk is full, and the process has stopped. */
    private boolean execute(Effects round) {
        if (!append(round)) {
            return false;
        }
        boolean waits = disk.waitsForSync();
        if (!waits) {
            round.sendAfterPersist().forEach(this::send);
        }
        if (round.needsSync()) {
            sync(round, waits);
        }
        for (Decision decision : round.deliver()) {
            deliver(decision);
        }
        round.reads().forEach(this::answer);
        if (round.behind() >= 0) {
            process.replica(ring()).behind(round.behind());
        }
        return true;
    }

    private boolean append(Effects round) {
        List<LogRecord> records = round.persist();
        boolean sendsFirst = cluster.simulation().chance(0.5);
        if (sendsFirst) {
            round.sendNow().forEach(this::send);
        }
        if (process.diskFull() && !records.isEmpty()) {
            disk.append(records.subList(0, cluster.simulation().below(records.size() + 1)));
            process.stopForFullDisk();
            return false;
        }
        disk.append(records);
        if (!sendsFirst) {
            round.sendNow().forEach(this::send);
        }
        return true;
    }

    private void sync(Effects round, boolean waits) {
        long end = disk.end();
        syncedAtNs = Math.max(syncedAtNs, cluster.simulation().nowNs() + cluster.syncNs());
        process.at(
                syncedAtNs,
                () -> {
                    disk.synced(end);
                    if (waits) {
                        round.sendAfterPersist().forEach(this::send);
                    }
                    core.onPersisted(round.position(), process.localNs(), effects);
                    settle();
                });
        if (!waits) {
            core.onPersisted(round.position(), process.localNs(), effects);
        }
    }

    private void deliver(Decision decision) {
        cluster.simulation().note(2, ring() * 100L + process.id(), decision.instance());
        if (decision.instance() < nextDelivery && decision.instance() <= installed) {
            return;
        }
        if (decision.instance() != nextDelivery) {
            throw new Checker.Violation(
                    this + " delivers " + decision.instance() + ", due is " + nextDelivery);
        }
        nextDelivery++;
        process.replica(ring()).decided(decision.instance(), decision.batch());
    }

    private void send(Outbound outbound) {
        if (outbound.message() instanceof Message.Accept accept
                && accept.ballot().node() != config.self()) {
            cluster.coverage().count(Coverage.Kind.VALUES_PASSED_ON);
        }
        if (outbound.to() != Outbound.ALL) {
            cluster.send(ring(), config.self(), outbound.to(), outbound.message());
            return;
        }
        for (int member : core.membership().others(config.self())) {
            cluster.send(ring(), config.self(), member, outbound.message());
        }
    }

    private void answer(ReadDecided read) {
        if (read.from() < disk.firstAvailable()) {
            send(
                    new Outbound(
                            read.peer(),
                            new Message.TooOld(
                                    read.from(), disk.firstAvailable(), read.through())));
            return;
        }
        long last = Math.min(read.through(), read.from() + CATCH_UP_INSTANCES - 1);
        List<Batch> batches = disk.read(read.from(), last);
        if (batches.size() != last - read.from() + 1) {
            throw new Checker.Violation("hole in the log of " + this);
        }
        for (int i = 0; i < batches.size(); i++) {
            cluster.checker().decided(ring(), process.id(), read.from() + i, batches.get(i));
        }
        send(
                new Outbound(
                        read.peer(),
                        new Message.CatchUpReply(read.from(), batches, read.through())));
    }

    private void scheduleTick() {
        long due =
                cluster.simulation().nowNs()
                        + Math.max(
                                Simulation.MS / 10,
                                process.realNs(core.nextTickNs() - process.localNs()) + 1000);
        if (due < tickNs) {
            tickNs = due;
            process.at(due, () -> tick(due));
        }
    }

    private void tick(long scheduledNs) {
        if (scheduledNs != tickNs) {
            return;
        }
        tickNs = Long.MAX_VALUE;
        core.onTick(process.localNs(), effects);
        settle();
        if (flushPending) {
            scheduleTick();
        }
    }

    @Override
    public String toString() {
        return "ring "
                + ring()
                + " at "
                + process
                + ": decided "
                + core.decided()
                + ", ballot "
                + core.ballot()
                + ", coordinator "
                + core.coordinator();
    }
}
