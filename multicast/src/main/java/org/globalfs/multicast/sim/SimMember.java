package org.globalfs.multicast.sim;

import java.util.List;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.Decision;
import org.globalfs.multicast.core.Effects;
import org.globalfs.multicast.core.Message;
import org.globalfs.multicast.core.Outbound;
import org.globalfs.multicast.core.PersistedState;
import org.globalfs.multicast.core.ReadDecided;
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
    private final SimDisk disk = new SimDisk();
    private RingCore core;
    private Effects effects = new Effects();
    private boolean flushPending;
    private long syncedAtNs;
    private long tickNs = Long.MAX_VALUE;

    SimMember(SimCluster cluster, SimProcess process, RingConfig config) {
        this.cluster = cluster;
        this.process = process;
        this.config = config;
        this.core = start(null);
    }

    private RingCore start(@Nullable ImportSource imports) {
        effects = new Effects();
        flushPending = false;
        syncedAtNs = 0;
        tickNs = Long.MAX_VALUE;
        return cluster.plan().factory().create(config, disk.recover(), imports, process.localNs());
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

    /** Starts with what the disk has and hands the process what its state misses of it. */
    void restart(@Nullable ImportSource imports, long applied) {
        core = start(imports);
        PersistedState state = disk.recover();
        long from = Math.max(applied + 1, disk.firstAvailable());
        if (applied + 1 < disk.firstAvailable()) {
            Checker.check(
                    false, "log of ring " + ring() + " begins beyond the state of " + process);
        }
        long instance = from;
        List<Batch> batches = disk.read(from, state.decided());
        Checker.check(
                from + batches.size() > state.decided(),
                "hole in the decided prefix of ring " + ring() + " at " + process);
        for (Batch batch : batches) {
            process.decided(this, instance++, batch);
        }
        settle();
    }

    boolean propose(byte[] value, int[] destinations) {
        boolean taken = core.onPropose(value, destinations, effects);
        settle();
        return taken;
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

    void checkpointInstalled(long instance) {
        core.onCheckpointInstalled(instance, effects);
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
        Effects round = effects;
        effects = new Effects();
        execute(round);
        checkLease();
        scheduleTick();
    }

    private void execute(Effects round) {
        disk.append(round.persist());
        round.sendNow().forEach(this::send);
        if (cluster.plan().votesBeforeSync()) {
            round.sendAfterPersist().forEach(this::send);
        }
        if (round.needsSync()) {
            long end = disk.end();
            syncedAtNs = Math.max(syncedAtNs, cluster.simulation().nowNs() + cluster.syncNs());
            process.at(
                    syncedAtNs,
                    () -> {
                        disk.synced(end);
                        if (!cluster.plan().votesBeforeSync()) {
                            round.sendAfterPersist().forEach(this::send);
                        }
                        core.onPersisted(round.position(), process.localNs(), effects);
                        settle();
                    });
            if (cluster.plan().votesBeforeSync()) {
                core.onPersisted(round.position(), process.localNs(), effects);
            }
        }
        for (Decision decision : round.deliver()) {
            cluster.simulation().note(2, ring() * 100L + process.id(), decision.instance());
            process.decided(this, decision.instance(), decision.batch());
        }
        round.reads().forEach(this::answer);
        if (round.behind() >= 0) {
            process.behind(this, round.behind());
        }
    }

    private void send(Outbound outbound) {
        for (int member : config.members()) {
            boolean meant =
                    outbound.to() == Outbound.ALL
                            ? member != config.self()
                            : member == outbound.to();
            if (meant) {
                cluster.send(ring(), config.self(), member, outbound.message());
            }
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
        Checker.check(
                batches.size() == last - read.from() + 1,
                "hole in the log of ring " + ring() + " at " + process);
        for (int i = 0; i < batches.size(); i++) {
            cluster.checker().decided(ring(), process.id(), read.from() + i, batches.get(i), false);
        }
        send(
                new Outbound(
                        read.peer(),
                        new Message.CatchUpReply(read.from(), batches, read.through())));
    }

    private void checkLease() {
        long remaining = core.leaseRemainingNs(process.localNs());
        long readInstance = core.leaseInstance(process.localNs());
        Checker.check(remaining > 0 == readInstance >= 0, "lease instance without lease");
        if (remaining > 0) {
            long nowNs = cluster.simulation().nowNs();
            cluster.checker()
                    .lease(
                            ring(),
                            process.id(),
                            process.incarnation(),
                            nowNs,
                            nowNs + process.realNs(remaining),
                            readInstance);
        }
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
