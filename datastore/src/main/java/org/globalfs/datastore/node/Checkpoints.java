package org.globalfs.datastore.node;

import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.globalfs.protocol.DiskWatch;

/**
 * When the index of a store is brought to disk, and what it says of segments then, so that a start
 * need not look through them: one in which nothing was written, and nothing has died, since the
 * checkpoint that the index was opened at.
 *
 * <p>Invariant: what a checkpoint says is on disk in the segments; and a segment is stamped with an
 * epoch before a record in it dies in that epoch.
 */
final class Checkpoints {
    /** A start looks through what was written, and the segments in which something died, since. */
    private static final long CHECKPOINT_NS = 60_000_000_000L;

    private final ChunkIndex index;
    private final SegmentFolder files;
    private final GroupSync groupSync;
    private final DiskWatch disk;

    /** Segments that the index knows the dead records of; for who holds the index lock. */
    private final Set<Integer> summarized;

    private final AtomicBoolean taking = new AtomicBoolean();
    private volatile long epoch;
    private volatile long lastNs = System.nanoTime();

    Checkpoints(ChunkIndex index, SegmentFolder files, GroupSync groupSync, DiskWatch disk) {
        this.index = index;
        this.files = files;
        this.groupSync = groupSync;
        this.disk = disk;
        epoch = index.openedAt().number() + 1;
        summarized = new HashSet<>(index.summarized());
    }

    /** Number of the checkpoint that what changes now will be in. */
    long epoch() {
        return epoch;
    }

    /** Whether the index that was opened knows all of this segment. */
    boolean isTrusted(SegmentLoader.Opened file) {
        ChunkIndex.Checkpoint checkpoint = index.openedAt();
        return file.sealed()
                && file.header().number() < checkpoint.from()
                && file.stamp() <= checkpoint.number();
    }

    /** See {@link ChunkIndex#checkpoint}; append lock and index lock held. */
    void take(Collection<ChunkLocation> originals) throws IOException {
        groupSync.await(groupSync.latest());
        for (ChunkLocation original : originals) {
            // The index does not say that it lives, and it is not dead yet.
            files.stamp(original.segment(), epoch + 1);
        }
        summarize(files.all());
        long number = epoch;
        index.checkpoint(new ChunkIndex.Checkpoint(number, files.appendsFrom()));
        epoch = number + 1;
        lastNs = System.nanoTime();
    }

    private void summarize(List<SegmentFile> segments) {
        Set<Integer> there = new HashSet<>();
        for (SegmentFile segment : segments) {
            there.add(segment.number());
            byte[] summary = segment.summary();
            if (summary != null) {
                index.summarize(segment.number(), summary);
                segment.summarized();
            }
        }
        for (int segment : summarized) {
            if (!there.contains(segment)) {
                index.forget(segment); // a power failure may bring the file back
            }
        }
        summarized.clear();
        summarized.addAll(there);
    }

    /** Takes one with `take`, should it be time. */
    void takeIfDue(Taking take) throws IOException {
        if (!isDue() || !taking.compareAndSet(false, true)) {
            return; // many find it due at the same moment, and one of them is enough
        }
        try {
            if (isDue()) {
                take.take();
            }
        } finally {
            taking.set(false);
        }
    }

    /** Takes a checkpoint with the locks that are needed. */
    interface Taking {
        void take() throws IOException;
    }

    private boolean isDue() throws IOException {
        long changes = index.changes();
        boolean many = changes >= ChunkIndex.MAX_CHANGES;
        boolean old = changes > 0 && System.nanoTime() - lastNs >= CHECKPOINT_NS;
        return (many || old)
                && groupSync.failure() == null
                && (hasRoom() || changes >= ChunkIndex.MOST_CHANGES);
    }

    /** One that finds none would stop the index; deletes have to go on. */
    private boolean hasRoom() throws IOException {
        return disk.look(0) + disk.reservedBytes() >= ChunkIndex.CHECKPOINT_BYTES;
    }
}
