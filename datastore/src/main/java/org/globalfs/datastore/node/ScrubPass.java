package org.globalfs.datastore.node;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.Shutdown;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A walk over all of a node's chunks that somebody asked for. What is written after it began is not
 * read: it would never end on a node that is written to faster than it may read.
 *
 * <p>The thread of {@link Scrub} takes it on; any may ask how far it is.
 */
final class ScrubPass {
    private static final Logger LOG = LoggerFactory.getLogger(ScrubPass.class);
    private static final int MOST_PROBLEMS = 16;

    private final SegmentStore store;
    private final String node;
    private final long number;
    private final ScrubWalk walk;
    private final long startNs = System.nanoTime();
    private final long firstTotalBytes;

    /** Of the thread that reads. */
    private long creditedNs = startNs;

    /** Found while it ran, or known when it began. */
    private final Set<ChunkKey> damaged;

    private final Map<ChunkKey, String> problems = new LinkedHashMap<>();
    private long bytesPerSecond;
    private long readBytes;
    private long mended;
    private long unreadable;
    private long endNs;
    private boolean readAll;

    /** Why it ends before it has read all; null: it does not. */
    private @Nullable String failure;

    private boolean ended;

    /** Reads a chunk, and says what it is like. */
    @FunctionalInterface
    interface ChunkReader {
        ChunkStatus read(ChunkKey key, int bytes) throws IOException;
    }

    ScrubPass(SegmentStore store, String node, long number, long bytesPerSecond) {
        this.store = store;
        this.node = node;
        this.number = number;
        this.bytesPerSecond = bytesPerSecond;
        walk = new ScrubWalk(store, null, store.last());
        firstTotalBytes = store.liveBytes();
        damaged = new HashSet<>(store.corrupt());
    }

    synchronized void limit(long newBytesPerSecond) {
        bytesPerSecond = newBytesPerSecond;
    }

    private synchronized long limit() {
        return bytesPerSecond;
    }

    /**
     * Reads what it may by now.
     *
     * @param mostNs what stood still for longer does not catch up
     */
    void readOn(long mostNs, ChunkReader reader, Shutdown shutdown) throws IOException {
        long nowNs = System.nanoTime();
        walk.credit(Math.min(nowNs - creditedNs, mostNs) / 1e9 * limit());
        creditedNs = nowNs;
        walk.readOn((key, bytes) -> read(key, bytes, reader), shutdown);
        if (walk.isOver()) {
            readAll();
        }
    }

    /** It ends with what it has read by now. */
    synchronized void giveUp(String why) {
        if (!ended && failure == null) {
            failure = why;
            unreadable++;
            readAll = true;
        }
    }

    private synchronized void readAll() {
        readAll = true;
    }

    synchronized boolean hasReadAll() {
        return readAll;
    }

    private void read(ChunkKey key, int bytes, ChunkReader reader) {
        ChunkStatus status = ChunkStatus.OK;
        try {
            status = reader.read(key, bytes);
        } catch (IOException | RuntimeException e) {
            noteUnreadable(key, e);
        }
        synchronized (this) {
            readBytes += bytes;
            if (status == ChunkStatus.CORRUPT) {
                damaged.add(key);
            }
        }
    }

    private synchronized void noteUnreadable(ChunkKey key, Exception e) {
        if (unreadable == 0) {
            LOG.warn("{}: chunk {} cannot be read, maybe others: {}", node, key, e.toString());
        }
        unreadable++;
        problem(key, "cannot be read: " + e.getMessage());
    }

    private void problem(ChunkKey key, String text) {
        if (problems.size() < MOST_PROBLEMS) {
            problems.put(key, "chunk " + key + " " + text);
        }
    }

    private List<String> problems() {
        List<String> texts = new ArrayList<>(problems.values());
        if (failure != null) {
            texts.addFirst("the pass gave up, as " + failure);
        }
        return texts;
    }

    /** Whoever found it: it may be somebody who reads from this node meanwhile. */
    synchronized void mended(ChunkKey key) {
        if (!ended) {
            damaged.add(key);
        }
        if (damaged.contains(key)) {
            mended++;
        }
        problems.remove(key);
    }

    synchronized void notMended(ChunkKey key, Exception e) {
        if (!ended) {
            damaged.add(key);
        }
        problem(key, "stays damaged: " + e.getMessage());
    }

    /** Only what it says of chunks left changes from now on. */
    synchronized void end() {
        if (ended) {
            return;
        }
        ended = true;
        endNs = System.nanoTime();
        ScrubProgress now = progress();
        LOG.info(
                "{}: read {} chunks, {} bytes: {} damaged, {} written again, {} left, {} not readable",
                node,
                failure == null ? "all" : "some",
                now.readBytes(),
                now.damaged(),
                now.mended(),
                now.left(),
                now.unreadable());
    }

    synchronized boolean hasEnded() {
        return ended;
    }

    synchronized ScrubProgress progress() {
        long untilNs = ended ? endNs : System.nanoTime();
        return new ScrubProgress(
                number,
                ended ? PassState.ENDED : PassState.RUNNING,
                TimeUnit.NANOSECONDS.toMillis(untilNs - startNs),
                ended && failure == null ? readBytes : Math.max(firstTotalBytes, readBytes),
                readBytes,
                bytesPerSecond,
                damaged.size(),
                mended,
                damaged.stream().filter(store.corrupt()::contains).count(),
                unreadable,
                problems());
    }
}
