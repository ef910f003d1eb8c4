package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.OpenFiles;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.config.Roles.StorageRole;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds the space that dead records take, and the number of files: a segment that is more than a
 * quarter garbage, or of which less than half is live, has its live records copied to the newest
 * segment, and goes.
 *
 * <p>Order of what reaches the disk: copies, then the originals' deaths, then the file's removal. A
 * chunk of which two records are there meanwhile dies with both ({@link SegmentStore#delete}), so
 * that none of them comes back after a crash; and a start that finds both keeps the newer one.
 */
public final class Compaction implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Compaction.class);
    private static final long TURN_MS = 1_000;
    private static final int BATCH_BYTES = 8 << 20;

    /** What a segment costs at least: it is synced several times, however little it has. */
    private static final int LEAST_BYTES = 1 << 20;

    private static final long CLOSE_MS = 3_000;

    /** After so many bytes a pass ends: by then others may have more garbage than those to come. */
    private static final long PASS_BYTES = 512L << 20;

    /**
     * Nothing is tried for so long where room, a descriptor or the index lacked; and a segment of
     * which something stays (a chunk in it is damaged, say) is left alone so long.
     */
    private static final long BACK_OFF_NS = TimeUnit.SECONDS.toNanos(30);

    /** What cannot be read is tried less and less often, and at least so often. */
    private static final long MOST_BACK_OFF_NS = TimeUnit.HOURS.toNanos(1);

    private static final long MOST_LACKING_NS = 8 * BACK_OFF_NS;

    private final SegmentStore store;
    private final String node;
    private final LongSupplier nanoTime;
    private final Map<Integer, BackOff> backOffs = new HashMap<>();

    /** No descriptor was left: a pass begins with those that need least. */
    private boolean usedUp;

    /**
     * Something lacked that each of very many segments would find lacking, and look through all it
     * has before: that ends a pass.
     */
    private boolean lacks;

    private long lacksSinceNs;
    private final long passBytes;

    /** What this pass has copied. */
    private long copiedBytes;

    private final Shutdown shutdown = new Shutdown();
    private final Pace pace;
    private final Thread thread;

    /** At the default pace. */
    public Compaction(SegmentStore store, String node) {
        this(store, node, StorageRole.DEFAULT_COMPACTION_BYTES_PER_SECOND);
    }

    /**
     * @param node its name, for the log
     * @param bytesPerSecond more than 0; copies at most, over any time that is long against 8 MiB
     */
    public Compaction(SegmentStore store, String node, long bytesPerSecond) {
        this(store, node, bytesPerSecond, PASS_BYTES, System::nanoTime);
    }

    /**
     * As {@link #Compaction(SegmentStore, String, long)}.
     *
     * @param passBytes more than 0: see {@link #compact}
     * @param nanoTime as {@link System#nanoTime}
     */
    Compaction(
            SegmentStore store,
            String node,
            long bytesPerSecond,
            long passBytes,
            LongSupplier nanoTime) {
        this.passBytes = passBytes;
        this.nanoTime = nanoTime;
        this.store = store;
        this.node = node;
        pace = new Pace(bytesPerSecond, shutdown);
        thread =
                Thread.ofPlatform()
                        .daemon()
                        .name("storage-" + node + "-compaction")
                        .unstarted(this::run);
    }

    public void start() {
        thread.start();
    }

    private void run() {
        while (!shutdown.await(TURN_MS, TimeUnit.MILLISECONDS)) {
            try {
                compact();
            } catch (IOException | RuntimeException e) {
                LOG.warn("{}: segments keep their garbage", node, e);
            }
        }
    }

    /**
     * Goes through all segments once, or the first of them until so much is copied that it is to be
     * asked again which come first; returns how many went: none of a disk that failed.
     */
    int compact() throws IOException {
        int removed = 0;
        if (store.files().hasFailed()) {
            return removed; // what is copied would never be synced, nor what it is copied from go
        }
        if (lacks && nanoTime.getAsLong() - lacksSinceNs < BACK_OFF_NS) {
            return removed;
        }
        List<SegmentFile> segments = store.files().wasteful(usedUp);
        usedUp = false;
        lacks = false;
        copiedBytes = 0;
        for (SegmentFile segment : segments) {
            if (isOver()) {
                break;
            }
            BackOff backOff = backOffs.get(segment.number());
            if ((backOff == null || backOff.isOver(nanoTime.getAsLong())) && emptied(segment)) {
                backOffs.remove(segment.number());
                removed++;
            }
        }
        return removed;
    }

    /** A segment is left alone for so long from then on. */
    private record BackOff(long sinceNs, long forNs) {
        boolean isOver(long nowNs) {
            return nowNs - sinceNs >= forNs;
        }
    }

    private boolean isOver() {
        return shutdown.begun() || lacks || copiedBytes >= passBytes || store.files().hasFailed();
    }

    /** As {@link #empty}. One that cannot be emptied keeps its garbage, and the others do not. */
    private boolean emptied(SegmentFile segment) {
        try {
            if (empty(segment)) {
                return true;
            }
            stays(segment);
        } catch (IOException | RuntimeException e) {
            usedUp = OpenFiles.areUsedUp(e);
            if (usedUp || Disk.isFull(e) || ChunkIndex.isRefusal(e)) {
                lack();
                stays(segment);
            } else {
                BackOff before = backOffs.get(segment.number());
                long forNs = before == null ? BACK_OFF_NS : 2 * before.forNs;
                backOff(segment, Math.min(MOST_BACK_OFF_NS, forNs));
            }
            LOG.warn("{}: {} keeps its garbage for now", node, segment.path(), e);
        }
        return false;
    }

    /**
     * Where something lacks the next passes begin with others, which may need less of it. Not for
     * long: nobody says when it is there again.
     */
    private void stays(SegmentFile segment) {
        BackOff before = backOffs.get(segment.number());
        long forNs = lacks ? 2 * (before == null ? BACK_OFF_NS : before.forNs) : BACK_OFF_NS;
        backOff(segment, Math.min(MOST_LACKING_NS, forNs));
    }

    private void backOff(SegmentFile segment, long forNs) {
        backOffs.put(segment.number(), new BackOff(nanoTime.getAsLong(), forNs));
    }

    private void lack() {
        lacks = true;
        lacksSinceNs = nanoTime.getAsLong();
    }

    /** False: something stays in it for now. */
    private boolean empty(SegmentFile segment) throws IOException {
        List<ChunkKey> copied = new ArrayList<>();
        try {
            copyLive(segment, copied);
        } finally {
            // Who was copied and is not settled would be on disk twice until the next start.
            settle(copied);
        }
        return store.files().dropIfDead(segment);
    }

    /**
     * Up to the first for which there is no room.
     *
     * @param copied gets those that are not settled yet
     */
    private void copyLive(SegmentFile segment, List<ChunkKey> copied) throws IOException {
        int bytes = 0;
        long before = copiedBytes;
        for (ChunkRecord record : store.records(segment)) {
            ChunkLocation location = store.location(record.key());
            if (!record.live()
                    || location == null
                    || location.segment() != segment
                    || location.offset() != record.offset()) {
                continue;
            }
            if (shutdown.begun()) {
                return;
            }
            if (!copy(record.key(), location)) {
                lack();
                return;
            }
            copied.add(record.key());
            bytes += location.recordBytes();
            if (bytes >= BATCH_BYTES) {
                settle(copied);
                spend(bytes);
                bytes = 0;
            }
        }
        spend(Math.max(bytes, LEAST_BYTES - (copiedBytes - before)));
    }

    private void spend(long bytes) {
        copiedBytes += bytes;
        var _ = pace.spend(bytes);
    }

    /** False: there is no room for it. */
    private boolean copy(ChunkKey key, ChunkLocation location) throws IOException {
        ByteBuffer data = BufferPool.take(SegmentStore.readRoom(location.dataBytes()));
        try {
            ChunkStatus status = store.readOnce(key, 0, location.dataBytes(), data);
            ChunkRecord header = status == ChunkStatus.OK ? store.header(key) : null;
            if (header == null) {
                return true; // damaged: it is written anew elsewhere first; or gone
            }
            return store.copy(key, location, header, data);
        } finally {
            BufferPool.give(data);
        }
    }

    private void settle(List<ChunkKey> copied) throws IOException {
        store.sync();
        store.reached(Step.COPIES_SYNCED);
        store.endOriginals(copied);
        copied.clear();
    }

    @Override
    public void close() {
        shutdown.begin();
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
