package org.globalfs.datastore.s3;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.BlockStoreException;
import org.globalfs.datastore.node.Pace;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.config.S3Upkeep;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads all objects of a partition once a period, evenly spread over it, and has those made anew
 * that are damaged.
 *
 * <p>It begins anywhere, so that all is read in the long run however often the partition changes
 * hands. A pass that somebody asks for reads all once, now; the slow one waits meanwhile.
 *
 * <p>One thread calls {@link #turn}; any may ask and begin.
 */
final class BucketScrub implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BucketScrub.class);
    private static final long LATER_NS = TimeUnit.MINUTES.toNanos(5);

    /** What part of a period a bucket that is not listed is waited for. */
    private static final int AWAY_A_PERIOD = 16;

    /** Each time whole buckets are listed. */
    private static final int MEASURED_A_PERIOD = 16;

    /** What stood still for longer does not catch up. */
    private static final long MOST_CREDITED_NS = TimeUnit.MINUTES.toNanos(1);

    private final String name;
    private final Buckets buckets;
    private final int region;
    private final BlockMender mender;
    private final S3Upkeep options;
    private final Shutdown shutdown;
    private final long laterNs;

    /** The slow one; where it began, and whether it is behind the end of the names. */
    private @Nullable ReadPass slow;

    private String began = "";
    private boolean wrapped;
    private double slowBytesPerSecond;
    private long measuredNs;
    private double creditBytes;
    private long creditedNs = System.nanoTime();
    private long slowFromNs = creditedNs;
    private volatile double slowPart;

    /** Since when the slow one has not had all listings. */
    private long awayNs;

    private boolean away;

    private @Nullable ReadPass fast;
    private long fastBytesPerSecond;
    private @Nullable Pace fastPace;
    private @Nullable PassTally asked;
    private long passes;

    BucketScrub(
            String name,
            Buckets buckets,
            int region,
            BlockMender mender,
            S3Upkeep options,
            Shutdown shutdown) {
        this(name, buckets, region, mender, options, shutdown, LATER_NS);
    }

    /**
     * @param laterNs how long the slow pass rests at its end, or where a bucket is not listed
     */
    BucketScrub(
            String name,
            Buckets buckets,
            int region,
            BlockMender mender,
            S3Upkeep options,
            Shutdown shutdown,
            long laterNs) {
        this.laterNs = laterNs;
        this.name = name;
        this.buckets = buckets;
        this.region = region;
        this.mender = mender;
        this.options = options;
        this.shutdown = shutdown;
    }

    /**
     * Begins a pass over all objects, unless one runs: that is joined, and goes on at this speed.
     *
     * @param bytesPerSecond 0: as configured, or what the pass that runs was begun with
     */
    synchronized ScrubProgress begin(long bytesPerSecond) {
        PassTally running = asked;
        if (running != null && running.state() == PassState.RUNNING) {
            if (bytesPerSecond > 0) {
                limit(running, bytesPerSecond);
            }
            return running.scrub();
        }
        long configured =
                options.scrubBytesPerSecond() > 0
                        ? options.scrubBytesPerSecond()
                        : S3Upkeep.DEFAULT_SCRUB_BYTES_PER_SECOND;
        passes++;
        running = new PassTally(passes);
        limit(running, bytesPerSecond > 0 ? bytesPerSecond : configured);
        asked = running;
        return running.scrub();
    }

    private void limit(PassTally tally, long bytesPerSecond) {
        if (bytesPerSecond != fastBytesPerSecond || fastPace == null) {
            fastBytesPerSecond = bytesPerSecond;
            fastPace = new Pace(bytesPerSecond, shutdown);
        }
        tally.limit(bytesPerSecond);
    }

    /** How far the last pass is that was asked for. */
    synchronized ScrubProgress progress() {
        return asked == null ? ScrubProgress.none(PassState.NONE) : asked.scrub();
    }

    private synchronized @Nullable PassTally running() {
        PassTally last = asked;
        return last != null && last.state() == PassState.RUNNING ? last : null;
    }

    private synchronized @Nullable Pace fastPace() {
        return fastPace;
    }

    /** Reads some objects, if any are to be read now; returns whether others may be. */
    boolean turn() throws IOException {
        PassTally running = running();
        Pace pace = fastPace();
        return running != null && pace != null ? readFast(running, pace) : readSlowly();
    }

    private boolean readFast(PassTally running, Pace pace) throws IOException {
        ReadPass pass = fast;
        if (pass == null) {
            running.expect(bytes());
            pass = new ReadPass(buckets, new BlockWalk(buckets, region, "", null), mender, running);
            fast = pass;
        }
        boolean more = pass.readOn(pace);
        if (!more && !shutdown.begun()) {
            endFast(PassState.ENDED);
            ScrubProgress now = running.scrub();
            LOG.info(
                    "{}: read all objects, {} bytes: {} damaged or missing, {} made anew, {} left, {} not readable",
                    name,
                    now.readBytes(),
                    now.damaged(),
                    now.mended(),
                    now.left(),
                    now.unreadable());
        }
        return true;
    }

    private void endFast(PassState how) {
        PassTally running = running();
        if (running != null) {
            running.end(how);
        }
        ReadPass pass = fast;
        fast = null;
        if (pass != null) {
            pass.close();
        }
    }

    private boolean readSlowly() throws IOException {
        long nowNs = System.nanoTime();
        double seconds = Math.min(nowNs - creditedNs, MOST_CREDITED_NS) / 1e9;
        creditedNs = nowNs;
        if (options.scrubPeriodMs() == 0
                || options.scrubBytesPerSecond() == 0
                || nowNs - slowFromNs < 0) {
            return false;
        }
        if (slow == null) {
            beginSlowly();
        } else if (nowNs - measuredNs
                >= TimeUnit.MILLISECONDS.toNanos(options.scrubPeriodMs()) / MEASURED_A_PERIOD) {
            measure();
        }
        creditBytes = Math.min(slowBytesPerSecond, creditBytes + seconds * slowBytesPerSecond);
        ReadPass pass = slow;
        if (creditBytes < 0 || pass == null) {
            return false;
        }
        String from = pass.place();
        long before = pass.readBytes();
        boolean more = pass.readOn(new Pace(options.scrubBytesPerSecond(), shutdown));
        creditBytes -= pass.readBytes() - before;
        if (isWaitedFor(pass.away())) {
            pass.close();
            slow = reading(new BlockWalk(buckets, region, from, wrapped ? began : null));
            slowFromNs = System.nanoTime() + laterNs;
            return false;
        }
        slowPart = ((wrapped ? 1 : 0) + pass.part() - Integer.parseInt(began, 16) / 65536.0);
        if (more || shutdown.begun()) {
            return more;
        }
        pass.close();
        if (wrapped) {
            slow = null;
            slowPart = 1; // also where there was nothing to read
            slowFromNs = System.nanoTime() + laterNs; // where there is little to read
        } else {
            wrapped = true;
            slow = reading(new BlockWalk(buckets, region, "", began));
        }
        return slow != null;
    }

    /**
     * What a listing lacks from where it failed would not be read in this pass. One that goes on
     * failing does not keep the other buckets' objects from being read.
     */
    private boolean isWaitedFor(Map<String, String> silent) {
        long nowNs = System.nanoTime();
        if (silent.isEmpty()) {
            away = false;
            return false;
        }
        if (!away) {
            away = true;
            awayNs = nowNs;
            LOG.info("{}: no objects are read until all buckets are listed: {}", name, silent);
        }
        return nowNs - awayNs
                < TimeUnit.MILLISECONDS.toNanos(options.scrubPeriodMs()) / AWAY_A_PERIOD;
    }

    /**
     * What has to be read a second: of all that is there by now, also if it was little at first.
     */
    private void measure() throws BlockStoreException {
        double needed = bytes() * 1e3 / options.scrubPeriodMs();
        slowBytesPerSecond = Math.clamp(needed, 1.0, (double) options.scrubBytesPerSecond());
        measuredNs = System.nanoTime();
    }

    private void beginSlowly() throws BlockStoreException {
        measure();
        began = String.format("%04x", ThreadLocalRandom.current().nextInt(1 << 16));
        wrapped = false;
        slow = reading(new BlockWalk(buckets, region, began, null));
    }

    private ReadPass reading(BlockWalk walk) {
        return new ReadPass(buckets, walk, mender, new PassTally(0));
    }

    /** How much of its period's reading is done, of 1. */
    double slowPart() {
        return slowPart;
    }

    /** Of all objects now. */
    private long bytes() throws BlockStoreException {
        BlockWalk walk = new BlockWalk(buckets, region, "", null);
        while (walk.next() != null && !shutdown.begun()) {
            // only counted
        }
        return walk.bytes();
    }

    /** The partition is somebody else's: forgets where it was. */
    void rest() {
        if (slow != null) {
            slow.close();
            slow = null;
        }
        endFast(PassState.WAITING);
    }

    @Override
    public void close() {
        rest();
    }
}
