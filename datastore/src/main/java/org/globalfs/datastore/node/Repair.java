package org.globalfs.datastore.node;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.StorageSite;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that all chunks of the blocks that this node has a part of exist, and are where the
 * newest placement epoch wants them. It goes through its chunks whenever nodes came or went, and
 * once an hour, or more often while something is left ({@link RepairSchedule}); and when somebody
 * asks for it.
 *
 * <p>A chunk of its own that belongs elsewhere is moved: deleted here once it is on disk there.
 * Chunks that nobody holds are made anew by one node, the first of those that hold the block's
 * first chunk left; for their home, or, while that is dead, for a node that keeps them for it. What
 * can lose fewest chunks more goes first, and what is only misplaced last. Two nodes that see
 * different things do some of it twice, which changes nothing: chunks of a block never differ.
 *
 * <p>Invariant: no copy is deleted before another one is on disk.
 */
final class Repair implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Repair.class);
    private static final long TURN_MS = 250;
    private static final long MOST_QUIET_NS = TimeUnit.SECONDS.toNanos(5);

    /** Nodes that come and go all the time put a pass off for so many times as long, no more. */
    private static final int MOST_PUT_OFF = 12;

    private static final long CLOSE_MS = 6_000;

    private final StorageSite site;
    private final String self;
    private final PlacementEpochs epochs;
    private final RepairOptions options;
    private final Peers peers;
    private final RepairPass.Scope scope;
    private final Shutdown shutdown = new Shutdown();
    private final Thread thread;

    /** What the last pass went by; null: there was none. */
    private Peers.@Nullable View done;

    private Peers.@Nullable View seen;
    private long seenSinceNs;

    /** Since when there was no quiet, nor a pass. */
    private long unquietSinceNs;

    private final RepairSchedule schedule = new RepairSchedule(System.nanoTime());

    /** Of the pass that runs, or of the last one. Guarded by this, as what follows. */
    private @Nullable RepairTally tally;

    private long passes;

    /** Somebody waits for a pass that has not begun yet. */
    private boolean asked;

    Repair(
            SegmentStore store,
            StorageSite site,
            PlacementEpochs epochs,
            RepairOptions options,
            ChunkSource source,
            Peers peers) {
        this.site = site;
        this.self = site.id();
        this.epochs = epochs;
        this.options = options;
        this.peers = peers;
        scope =
                new RepairPass.Scope(
                        store, self, epochs, options, source, peers, new RepairNews(), shutdown);
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("storage-" + self + "-repair")
                        .unstarted(this::run);
    }

    void start() {
        if (options.bytesPerSecond() == 0) {
            LOG.warn(
                    "{}: what it holds is not looked after, as its repairBandwidth is 0: it makes no"
                            + " lost chunk anew, gives none to new nodes, and cannot be drained",
                    self);
        }
        thread.start();
    }

    private void run() {
        long quietNs = Math.min(MOST_QUIET_NS, TimeUnit.MILLISECONDS.toNanos(options.quietMs()));
        seenSinceNs = System.nanoTime();
        unquietSinceNs = seenSinceNs;
        while (!shutdown.await(TURN_MS, TimeUnit.MILLISECONDS)) {
            try {
                turn(quietNs);
            } catch (RuntimeException e) {
                LOG.error("{}: chunks are not looked after, which is tried again", self, e);
                var _ = shutdown.await(RepairSchedule.AGAIN_NS, TimeUnit.NANOSECONDS);
            }
        }
    }

    private void turn(long quietNs) {
        Epoch epoch = joined(epochs.newest());
        if (options.bytesPerSecond() == 0) {
            return;
        }
        Peers.View view = peers.look(epoch);
        long nowNs = System.nanoTime();
        if (!view.equals(seen)) {
            unquietSinceNs = nowNs - seenSinceNs >= quietNs ? nowNs : unquietSinceNs;
            seen = view;
            seenSinceNs = nowNs;
        }
        boolean quiet =
                nowNs - seenSinceNs >= quietNs || nowNs - unquietSinceNs >= MOST_PUT_OFF * quietNs;
        boolean news = !view.equals(done);
        boolean asked = isAsked();
        if (asked || quiet && (news || schedule.isDue(nowNs))) {
            if (asked || news) {
                schedule.renew();
            }
            done = view;
            RepairSchedule.Outcome outcome = pass(epoch, view);
            unquietSinceNs = System.nanoTime();
            schedule.ended(outcome, unquietSinceNs);
            peers.close();
        }
    }

    private RepairSchedule.Outcome pass(Epoch epoch, Peers.View view) {
        boolean wasAsked;
        RepairTally begun;
        synchronized (this) {
            wasAsked = asked;
            asked = false;
            passes++;
            begun = new RepairTally(passes);
            tally = begun;
        }
        RepairSchedule.Outcome outcome;
        try (RepairPass repairing = new RepairPass(scope, epoch, view, begun)) {
            outcome = repairing.run();
        } catch (RuntimeException e) {
            LOG.error("{}: the pass over its chunks failed, and is tried again", self, e);
            begun.fail("the pass failed: " + e.getMessage());
            outcome = RepairSchedule.Outcome.GOES_ON;
        }
        if (wasAsked && begun.state() == PassState.WAITING) {
            synchronized (this) {
                asked = true; // it did not get through: the next one is for those who wait
            }
        }
        return outcome;
    }

    /** Has a pass begin as soon as none runs: the one after that which the answer is about. */
    synchronized RepairProgress begin() {
        asked |= options.bytesPerSecond() > 0;
        return progress();
    }

    /** How far the pass is that runs, or how the last one ended. */
    synchronized RepairProgress progress() {
        if (options.bytesPerSecond() == 0) {
            return RepairProgress.none(PassState.OFF);
        }
        RepairProgress last =
                tally == null ? RepairProgress.none(PassState.NONE) : tally.progress();
        boolean runs = last.state() == PassState.RUNNING;
        return asked && !runs ? last.in(PassState.WAITING) : last;
    }

    private synchronized boolean isAsked() {
        return asked;
    }

    /** A node that was drained and readmitted, while it ran, takes its place again. */
    private Epoch joined(Epoch epoch) {
        if (epoch.lists(self) || epoch.drained().contains(self)) {
            return epoch;
        }
        try {
            return epochs.join(site);
        } catch (IOException e) {
            LOG.info("{}: not in the newest placement epoch yet: {}", self, e.getMessage());
            return epoch;
        }
    }

    @Override
    public void close() {
        shutdown.begin();
        try {
            // It may wait for other nodes; what comes of that then is nobody's business any more.
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
