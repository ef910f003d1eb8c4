package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskWatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the index of a store to disk: a checkpoint of it now and then, and all of it anew once it
 * takes no more changes. Both hold the append lock and the index lock, in this order, so nothing
 * changes meanwhile; called with neither.
 */
final class IndexUpkeep {
    private static final Logger LOG = LoggerFactory.getLogger(IndexUpkeep.class);

    private static final long CLOSE_MS = 10_000;

    /** An index that could not be written anew is left alone for so long. */
    private static final long RENEW_AGAIN_NS = 5_000_000_000L;

    /** Likewise, where all segments have to be read for it. */
    private static final long REMAKE_AGAIN_NS = 60_000_000_000L;

    private final Path folder;
    private final SegmentStore.Options options;
    private final ChunkIndex index;
    private final ChunkTable table;
    private final SegmentFolder files;
    private final Checkpoints checkpoints;
    private final RecordEnds ends;
    private final GroupSync groupSync;
    private final DiskWatch disk;
    private final FaultPoints faults;
    private final ReentrantLock indexLock;

    /** Guarded by indexLock. */
    private long renewNotBeforeNs = System.nanoTime();

    IndexUpkeep(
            Path folder,
            SegmentStore.Options options,
            ChunkIndex index,
            ChunkTable table,
            SegmentFolder files,
            Checkpoints checkpoints,
            RecordEnds ends,
            GroupSync groupSync,
            DiskWatch disk,
            FaultPoints faults,
            ReentrantLock indexLock) {
        this.folder = folder;
        this.options = options;
        this.index = index;
        this.table = table;
        this.files = files;
        this.checkpoints = checkpoints;
        this.ends = ends;
        this.groupSync = groupSync;
        this.disk = disk;
        this.faults = faults;
        this.indexLock = indexLock;
    }

    /** Brings the index as it is to disk, once all that it says is on disk in the segments. */
    void checkpoint() throws IOException {
        files.appendLock.lock();
        try {
            indexLock.lock();
            try {
                checkpoints.take(ends.originals());
            } finally {
                indexLock.unlock();
            }
        } finally {
            files.appendLock.unlock();
        }
        faults.reached(Step.CHECKPOINT, folder);
    }

    /** Now and then, by whoever has changed something. */
    void checkpointIfDue() throws IOException {
        try {
            checkpoints.takeIfDue(this::checkpoint);
        } catch (UncheckedIOException e) {
            IOException failure = files.failed(e);
            if (!Disk.isFull(failure) && !ChunkIndex.isRefusal(e)) {
                throw failure;
            }
            // It stays due; the disk watch has said that there is no room, or the index why.
        }
    }

    /** By whoever wants to change something, and now and then. */
    void renewIfDue() throws IOException {
        if (!index.isBroken() || groupSync.failure() != null) {
            return;
        }
        files.appendLock.lock();
        try {
            indexLock.lock();
            try {
                if (index.isBroken() && System.nanoTime() - renewNotBeforeNs >= 0 && hasRoom()) {
                    renew(index.isUnreadable());
                }
            } finally {
                indexLock.unlock();
            }
        } finally {
            files.appendLock.unlock();
        }
    }

    /** A try that finds none would take what is left from others, each time. */
    private boolean hasRoom() throws IOException {
        long needed = ChunkIndex.CHECKPOINT_BYTES + table.chunks() * ChunkIndex.ROW_BYTES;
        return disk.look(0) + disk.reservedBytes() >= needed;
    }

    private void renew(boolean fromSegments) throws IOException {
        try {
            index.renew(new SegmentRows(files, options));
            if (fromSegments) {
                table.recount();
                files.all().forEach(SegmentFile::unsummarized);
            }
            checkpoints.take(ends.originals());
            LOG.info("{}: the index was written anew, and takes changes again", folder);
        } catch (IOException | UncheckedIOException e) {
            IOException failure = files.failed(e);
            if (!ChunkIndex.isRefusal(e)) {
                throw failure;
            }
            LOG.warn("{}: the index cannot be written anew yet: {}", folder, failure.getMessage());
        } finally {
            renewNotBeforeNs =
                    System.nanoTime() + (fromSegments ? REMAKE_AGAIN_NS : RENEW_AGAIN_NS);
        }
    }

    /** The last checkpoint, before the store is closed; none of an index or a disk that failed. */
    void finish() throws IOException {
        if (groupSync.failure() != null || index.isBroken()) {
            return;
        }
        try {
            if (index.changes() > 0) {
                checkpoint();
            }
            index.awaitWritten(CLOSE_MS);
        } catch (UncheckedIOException e) {
            if (!ChunkIndex.isRefusal(e)) {
                throw e;
            }
            LOG.warn("{}: the next start takes longer: {}", folder, e.getMessage());
        }
    }
}
