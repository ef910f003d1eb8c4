package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Shutdown;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads all of a node's chunks once a period, evenly spread over it, and writes those again whose
 * bytes are damaged, whoever found that out. A damaged chunk is served to nobody meanwhile: readers
 * make do with the block's others.
 *
 * <p>It begins anywhere, so that a node that is restarted more often than once a period reads all
 * of its chunks in the long run too.
 */
final class Scrub implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Scrub.class);

    /**
     * How often chunks that are known to be damaged are looked for, and the most it reads on in.
     */
    private static final long TURN_MS = 1_000;

    /** A chunk that could not be made anew is left alone for so long. */
    private static final long AGAIN_NS = TimeUnit.MINUTES.toNanos(1);

    private static final long CLOSE_MS = 3_000;
    private static final long MOST_CREDITED_NS = TimeUnit.SECONDS.toNanos(5);
    private static final int BATCH = 256;

    private final SegmentStore store;
    private final String node;
    private final ScrubOptions options;
    private final ChunkSource source;
    private final Map<ChunkKey, Long> notBefore = new HashMap<>();
    private final Shutdown shutdown = new Shutdown();
    private final Thread thread;

    /** The next chunk to read is the first one behind it; null: the first of all. */
    private @Nullable ChunkKey cursor;

    /** Bytes that may be read by now and have not been. */
    private double credit;

    Scrub(SegmentStore store, String node, ScrubOptions options, ChunkSource source) {
        this.source = source;
        this.store = store;
        this.node = node;
        this.options = options;
        ThreadLocalRandom random = ThreadLocalRandom.current();
        cursor = new ChunkKey(random.nextLong(), random.nextLong(), 0);
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("storage-" + node + "-scrub")
                        .unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    private void run() {
        long lastNs = System.nanoTime();
        while (!shutdown.await(TURN_MS, TimeUnit.MILLISECONDS)) {
            try {
                mend();
                long nowNs = System.nanoTime();
                // What stood still does not catch up: the disk would be taken from others.
                credit += bytesPerSecond() * Math.min(nowNs - lastNs, MOST_CREDITED_NS) / 1e9;
                lastNs = nowNs;
                readOn();
            } catch (IOException e) {
                LOG.warn("{}: chunks cannot be read: {}", node, e.toString());
            }
        }
    }

    /** What is needed to be through in a period. */
    private double bytesPerSecond() {
        double needed = store.liveBytes() * 1e3 / Math.max(1, options.periodMs());
        return options.periodMs() == 0 ? 0 : Math.min(options.bytesPerSecond(), needed);
    }

    private void readOn() throws IOException {
        while (credit > 0 && !shutdown.begun()) {
            List<Map.Entry<ChunkKey, SegmentStore.Location>> next = store.list(cursor, BATCH);
            if (next.isEmpty()) {
                boolean all = cursor == null;
                cursor = null;
                if (all) {
                    credit = 0;
                }
                continue;
            }
            for (Map.Entry<ChunkKey, SegmentStore.Location> entry : next) {
                if (credit <= 0 || shutdown.begun()) {
                    return;
                }
                cursor = entry.getKey();
                credit -= Math.max(1, entry.getValue().dataBytes());
                // what it finds is noted by the store
                read(cursor, entry.getValue().dataBytes());
            }
        }
    }

    private void read(ChunkKey key, int bytes) throws IOException {
        ByteBuffer buffer = BufferPool.take(SegmentStore.readRoom(bytes));
        try {
            var _ = store.read(key, 0, bytes, buffer);
        } finally {
            BufferPool.give(buffer);
        }
    }

    private void mend() {
        for (ChunkKey key : store.corrupt()) {
            SegmentStore.Location location = store.location(key);
            Long time = notBefore.get(key);
            if (shutdown.begun()
                    || location == null
                    || time != null && System.nanoTime() - time < 0) {
                continue;
            }
            try {
                mend(key, location);
                notBefore.remove(key);
            } catch (IOException e) {
                notBefore.put(key, System.nanoTime() + AGAIN_NS);
                LOG.error("{}: damaged chunk {} stays so for now: {}", node, key, e.getMessage());
            }
        }
        notBefore.keySet().removeIf(key -> store.location(key) == null);
    }

    private void mend(ChunkKey key, SegmentStore.Location location) throws IOException {
        ChunkShape shape = location.shape();
        byte[] bytes = source.chunk(key, shape);
        if (bytes.length != location.dataBytes()) {
            throw new IOException(
                    "it has "
                            + location.dataBytes()
                            + " bytes, its block's others "
                            + bytes.length);
        }
        ChunkStatus status = store.keep(key, shape, location.home(), bytes);
        if (status == ChunkStatus.OK) {
            LOG.info("{}: damaged chunk {} is written again", node, key);
        } else if (status != ChunkStatus.DELETED) {
            throw new IOException("it cannot be written: " + status);
        }
    }

    @Override
    public void close() {
        shutdown.begin();
        try {
            // It may wait for other nodes; what it finds then is nobody's business any more.
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
