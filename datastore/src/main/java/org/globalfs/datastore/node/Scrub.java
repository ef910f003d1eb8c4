package org.globalfs.datastore.node;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.config.Roles.StorageRole;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads all of a node's chunks once a period, evenly spread over it, and writes those again whose
 * bytes are damaged, whoever found that out. A damaged chunk is served to nobody meanwhile: readers
 * make do with the block's others.
 *
 * <p>It begins anywhere, so that a node that is restarted more often than once a period reads all
 * of its chunks in the long run too. A pass that somebody asks for reads all of them once, now; it
 * keeps the period's waiting.
 */
final class Scrub implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Scrub.class);

    /**
     * How often chunks that are known to be damaged are looked for, and the most it reads on in.
     */
    private static final long TURN_MS = 1_000;

    /** The same while a pass is waited for. */
    private static final long PASS_TURN_MS = 100;

    private static final long CLOSE_MS = 3_000;
    private static final long MOST_CREDITED_NS = TimeUnit.SECONDS.toNanos(5);

    private final SegmentStore store;
    private final String node;
    private final ScrubOptions options;
    private final Shutdown shutdown = new Shutdown();
    private final Mender mender;
    private final LateScrub late;
    private final Thread reading;

    /** Making a chunk anew can take long; reading goes on meanwhile. */
    private final Thread mending;

    /** The one that goes on by itself. */
    private ScrubWalk walk;

    /** The last one that somebody asked for. */
    private @Nullable ScrubPass asked;

    private long passes;

    Scrub(SegmentStore store, String node, ScrubOptions options, ChunkSource source) {
        this.store = store;
        this.node = node;
        this.options = options;
        late = new LateScrub(options);
        walk = ScrubWalk.fromAnywhere(store);
        mender = new Mender(store, node, source, shutdown);
        reading = thread("scrub", this::read);
        mending = thread("mend", this::mend);
    }

    private Thread thread(String name, Runnable task) {
        return Thread.ofPlatform().daemon().name("storage-" + node + "-" + name).unstarted(task);
    }

    void start() {
        reading.start();
        mending.start();
    }

    /**
     * Begins a pass over all chunks, unless one runs: that is joined, and goes on at this speed.
     *
     * @param bytesPerSecond 0: as configured, or what the pass that runs was begun with
     */
    synchronized ScrubProgress begin(long bytesPerSecond) {
        ScrubPass pass = asked;
        if (pass != null && !pass.hasEnded()) {
            if (bytesPerSecond > 0) {
                pass.limit(bytesPerSecond);
            }
            return pass.progress();
        }
        long configured =
                options.bytesPerSecond() > 0
                        ? options.bytesPerSecond()
                        : StorageRole.DEFAULT_SCRUB_BYTES_PER_SECOND;
        passes++;
        pass = new ScrubPass(store, node, passes, bytesPerSecond > 0 ? bytesPerSecond : configured);
        asked = pass;
        mender.forgive(); // whoever asks wants to see all of them tried
        return pass.progress();
    }

    /** How far the last pass is that was asked for. */
    synchronized ScrubProgress progress() {
        return asked == null ? ScrubProgress.none(PassState.NONE) : asked.progress();
    }

    private synchronized @Nullable ScrubPass asked() {
        return asked;
    }

    private @Nullable ScrubPass running() {
        ScrubPass pass = asked();
        return pass == null || pass.hasEnded() ? null : pass;
    }

    private long turnMs() {
        return running() == null ? TURN_MS : PASS_TURN_MS;
    }

    private void read() {
        long lastNs = System.nanoTime();
        while (!shutdown.await(turnMs(), MILLISECONDS)) {
            try {
                long nowNs = System.nanoTime();
                // What stood still does not catch up: the disk would be taken from others.
                double seconds = Math.min(nowNs - lastNs, MOST_CREDITED_NS) / 1e9;
                lastNs = nowNs;
                ScrubPass pass = running();
                if (pass == null) {
                    readOn(seconds);
                } else {
                    pass.readOn(MOST_CREDITED_NS, this::read, shutdown);
                }
            } catch (IOException | RuntimeException e) {
                giveUp(e, "chunks cannot be read");
            }
        }
    }

    /** Who waits for a pass is told, and not left to wait for what comes no more. */
    private void giveUp(Exception e, String what) {
        LOG.warn("{}: {}", node, what, e);
        ScrubPass pass = running();
        if (pass != null) {
            pass.giveUp(what + ": " + e.getMessage());
        }
    }

    private void readOn(double seconds) throws IOException {
        if (walk.isOver()) {
            walk = new ScrubWalk(store, null, null);
        }
        late.of(store.liveBytes(), System.nanoTime())
                .ifPresent(said -> LOG.warn("{}: {}", node, said));
        walk.credit(seconds * bytesPerSecond());
        walk.readOn(this::read, shutdown); // what it finds is noted by the store
    }

    /** What is needed to be through in a period. */
    private double bytesPerSecond() {
        double needed = store.liveBytes() * 1e3 / Math.max(1, options.periodMs());
        return options.periodMs() == 0 ? 0 : Math.min(options.bytesPerSecond(), needed);
    }

    private ChunkStatus read(ChunkKey key, int bytes) throws IOException {
        ByteBuffer buffer = BufferPool.take(SegmentStore.readRoom(bytes));
        try {
            return store.readOnce(key, 0, bytes, buffer);
        } finally {
            BufferPool.give(buffer);
        }
    }

    private void mend() {
        while (!shutdown.await(turnMs(), MILLISECONDS)) {
            ScrubPass pass = asked();
            boolean all = pass != null && pass.hasReadAll();
            try {
                mender.mend(pass);
            } catch (RuntimeException e) {
                giveUp(e, "damaged chunks cannot be mended");
            }
            if (all && pass != null && !shutdown.begun()) {
                pass.end(); // what it found has been tried
            }
        }
    }

    @Override
    public void close() {
        shutdown.begin();
        try {
            // It may wait for other nodes; what it finds then is nobody's business any more.
            reading.join(CLOSE_MS);
            mending.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
