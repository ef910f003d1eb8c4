package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.node.Pace;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.config.S3Upkeep;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that all objects of a partition's blocks are in their buckets and whole, as long as
 * this process leads the partition ({@link BlockOwner}): compares the buckets once a period, soon
 * after it began to lead, when a bucket answers again that did not, and when somebody asks ({@link
 * CheckPass}); and reads all objects in the long run ({@link BucketScrub}). {@link BlockMender}
 * makes anew what lacks, and says why that is safe.
 *
 * <p>Two threads of its own; all methods may be called from any thread.
 */
public final class BucketUpkeep implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BucketUpkeep.class);
    private static final long TURN_MS = 250;
    private static final long CLOSE_MS = 6_000;

    /**
     * When it looks.
     *
     * @param settleMs from when it begins to lead, or from a pass that left something, to the next
     * @param probeMs how often it looks whether buckets answer
     */
    public record Times(long settleMs, long probeMs) {
        public static final Times DEFAULT = new Times(300_000, 30_000);
    }

    private final String name;
    private final Buckets buckets;
    private final int region;
    private final BlockOwner owner;
    private final S3Upkeep options;
    private final Times times;
    private final Shutdown shutdown = new Shutdown();
    private final BlockMender mender;
    private final BucketScrub scrub;
    private final Thread checking;
    private final Thread reading;

    /** Of the thread that checks, as what follows; it leads since it saw that it does. */
    private boolean leads;

    private long nextNs;
    private long probedNs;

    /** Of the pass that runs, or of the last one. Guarded by this, as what follows. */
    private @Nullable PassTally tally;

    private long passes;

    /** Somebody waits for a pass that has not begun yet. */
    private boolean asked;

    private List<BlockWalk.Count> counts = List.of();
    private long countedNs;

    /** Why buckets did not answer when it looked whether they do. */
    private final Map<String, String> away = new TreeMap<>();

    /** Why the last pass could not list some: they may have answered all the same. */
    private Map<String, String> unlisted = Map.of();

    BucketUpkeep(
            int region,
            Buckets buckets,
            Transfers.Threads threads,
            BlockOwner owner,
            S3Upkeep options,
            Times times,
            Consumer<BlockRef> beforeWrite) {
        this.name = region == 0 ? "global" : "partition " + region;
        this.buckets = buckets;
        this.region = region;
        this.owner = owner;
        this.options = options;
        this.times = times;
        Pace pace = new Pace(Math.max(1, options.repairBytesPerSecond()), shutdown);
        mender = new BlockMender(buckets, threads, owner, pace, beforeWrite);
        scrub = new BucketScrub(name, buckets, region, mender, options, shutdown);
        checking = thread("check", this::check);
        reading = thread("scrub", this::read);
    }

    private Thread thread(String kind, Runnable task) {
        return Thread.ofPlatform().daemon().name("s3-" + kind + "-" + region).unstarted(task);
    }

    BucketUpkeep start() {
        if (options.repairBytesPerSecond() > 0) {
            checking.start();
            reading.start();
        }
        return this;
    }

    private void check() {
        while (!shutdown.await(TURN_MS, TimeUnit.MILLISECONDS)) {
            try {
                turn();
            } catch (IOException | RuntimeException e) {
                LOG.warn("{}: the check of objects failed, and is tried again", name, e);
                nextNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(times.settleMs);
            }
        }
    }

    private void turn() throws IOException {
        long nowNs = System.nanoTime();
        boolean led = leads;
        leads = owner.leads();
        if (!leads) {
            return;
        }
        if (!led) {
            nextNs = nowNs + TimeUnit.MILLISECONDS.toNanos(times.settleMs);
            probedNs = nowNs - TimeUnit.MILLISECONDS.toNanos(times.probeMs);
        }
        boolean isBack = false;
        if (nowNs - probedNs >= TimeUnit.MILLISECONDS.toNanos(times.probeMs)) {
            isBack = probe();
            probedNs = System.nanoTime();
        }
        boolean due = nowNs - nextNs >= 0 && (options.checkPeriodMs() > 0 || left());
        if (isAsked() || isBack || due) {
            boolean clean = pass();
            long waitMs = clean ? options.checkPeriodMs() : times.settleMs;
            nextNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs);
        }
    }

    /** Whether the last pass left something. */
    private synchronized boolean left() {
        PassTally last = tally;
        return last != null
                && (last.state() == PassState.WAITING
                        || last.leftChunks() + last.unclearBlocks() > 0);
    }

    /** True: a bucket answers that did not before, and may lack what was written meanwhile. */
    private boolean probe() throws BlockStoreException {
        boolean isBack = false;
        for (Bucket bucket : buckets.ofBlocksOf(region)) {
            String failure = null;
            try {
                var _ = bucket.list(buckets.prefix(region), buckets.prefix(region), 1);
            } catch (BlockStoreException e) {
                failure = String.valueOf(e.getMessage());
            }
            isBack |= note(bucket, failure);
        }
        return isBack;
    }

    private synchronized boolean note(Bucket bucket, @Nullable String failure) {
        boolean wasAway = away.containsKey(bucket.region());
        if (failure != null) {
            away.put(bucket.region(), failure);
            if (!wasAway) {
                LOG.warn("{}: {} does not answer: {}", name, bucket, failure);
            }
            return false;
        }
        away.remove(bucket.region());
        if (wasAway) {
            LOG.info("{}: {} answers again", name, bucket);
        }
        return wasAway;
    }

    private boolean pass() throws IOException {
        PassTally begun;
        boolean wasAsked;
        synchronized (this) {
            wasAsked = asked;
            asked = false;
            passes++;
            begun = new PassTally(passes);
            tally = begun;
        }
        CheckPass pass = new CheckPass(name, buckets, region, owner, mender, begun, shutdown);
        boolean clean = pass.run();
        synchronized (this) {
            if (begun.state() == PassState.ENDED) {
                counts = pass.counts();
                countedNs = System.nanoTime();
            } else {
                asked |= wasAsked; // the next one is for those who wait
            }
            unlisted = Map.copyOf(pass.away());
        }
        return clean;
    }

    private synchronized boolean isAsked() {
        return asked;
    }

    private void read() {
        while (!shutdown.await(TURN_MS, TimeUnit.MILLISECONDS)) {
            try {
                while (owner.leads() && scrub.turn() && !shutdown.begun()) {
                    // goes on
                }
                if (!owner.leads()) {
                    scrub.rest();
                }
            } catch (IOException | RuntimeException e) {
                LOG.warn("{}: objects cannot be read, and are tried again", name, e);
            }
        }
        scrub.close();
    }

    /** Has a pass begin as soon as none runs: the one after that which the answer is about. */
    public synchronized RepairProgress beginRepair() {
        asked |= options.repairBytesPerSecond() > 0;
        return repair();
    }

    /** How far the pass is that runs, or how the last one ended; in objects. */
    public synchronized RepairProgress repair() {
        if (options.repairBytesPerSecond() == 0) {
            return RepairProgress.none(PassState.OFF);
        }
        PassTally last = tally;
        RepairProgress said = last == null ? RepairProgress.none(PassState.NONE) : last.repair();
        return asked && said.state() != PassState.RUNNING ? said.in(PassState.WAITING) : said;
    }

    /**
     * Begins a pass that reads all objects, unless one runs: that is joined, and goes on at this
     * speed.
     *
     * @param bytesPerSecond 0: as configured
     */
    public ScrubProgress beginScrub(long bytesPerSecond) {
        return options.repairBytesPerSecond() == 0
                ? ScrubProgress.none(PassState.OFF)
                : scrub.begin(bytesPerSecond);
    }

    /** How far the last pass is that was asked for. */
    public ScrubProgress scrub() {
        return options.repairBytesPerSecond() == 0
                ? ScrubProgress.none(PassState.OFF)
                : scrub.progress();
    }

    /**
     * A bucket.
     *
     * @param objects of this partition, when the buckets were compared last
     * @param away why it does not answer, or could not be listed; empty: it does, and could
     */
    public record BucketState(String region, long objects, long bytes, String away) {}

    /** Of all buckets of the partition. */
    public synchronized List<BucketState> buckets() throws IOException {
        Map<String, BlockWalk.Count> known = new TreeMap<>();
        counts.forEach(count -> known.put(count.region(), count));
        return buckets.ofBlocksOf(region).stream()
                .map(bucket -> {
                    BlockWalk.Count count =
                            known.getOrDefault(
                                    bucket.region(), new BlockWalk.Count(bucket.region(), 0, 0));
                    return new BucketState(
                            bucket.region(),
                            count.objects(),
                            count.bytes(),
                            away.getOrDefault(
                                    bucket.region(), unlisted.getOrDefault(bucket.region(), "")));
                })
                .toList();
    }

    /** When the buckets were compared last, ago; negative: not yet. */
    public synchronized long comparedMs() {
        return countedNs == 0 ? -1 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - countedNs);
    }

    /** How far the reading of a period is, of 1. */
    public double scrubbed() {
        return scrub.slowPart();
    }

    @Override
    public void close() {
        shutdown.begin();
        try {
            // It may wait for buckets; what comes of that then is nobody's business any more.
            if (checking.isAlive()) {
                checking.join(CLOSE_MS);
            }
            if (reading.isAlive()) {
                reading.join(CLOSE_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
