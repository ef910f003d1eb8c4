package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.globalfs.datastore.wire.ChunkKey;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the records on disk that the index does not name any more, so that no later start finds the
 * chunk in one of them. Of a chunk that {@link Compaction} has copied the older record lives on
 * until the copy is on disk; who ends the chunk before ends both. The store's index lock is held by
 * whoever calls.
 */
final class RecordEnds {
    private static final Logger LOG = LoggerFactory.getLogger(RecordEnds.class);

    private final ChunkTable table;
    private final SegmentFolder files;
    private final Checkpoints checkpoints;
    private final GroupSync groupSync;

    /** Older records of copied chunks, until they are dead. */
    private final Map<ChunkKey, ChunkLocation> originals = new HashMap<>();

    RecordEnds(
            ChunkTable table, SegmentFolder files, Checkpoints checkpoints, GroupSync groupSync) {
        this.table = table;
        this.files = files;
        this.checkpoints = checkpoints;
        this.groupSync = groupSync;
    }

    /** The chunk has a second record, and is there from now on. */
    void copied(ChunkKey key, ChunkLocation original) {
        originals.put(key, original);
    }

    /** Records that live on, though the index does not name them. */
    Collection<ChunkLocation> originals() {
        return originals.values();
    }

    /** The older record of a chunk that was copied; null: it has ended, or there was none. */
    @Nullable ChunkLocation original(ChunkKey key) {
        return originals.get(key);
    }

    /** Ends the older record of a chunk that was copied. */
    void endOriginal(ChunkKey key) throws IOException {
        ChunkLocation original = originals.get(key);
        if (original != null) {
            var _ = files.kill(original, checkpoints.epoch());
            originals.remove(key); // not before: if it lives on, it is still to be ended
        }
    }

    /** The index does not take a record: it is nobody's, and not to be found by a later start. */
    void endUnentered(ChunkLocation location) throws IOException {
        var _ = files.kill(location, checkpoints.epoch());
    }

    /**
     * Ends a record that the index does not name any more. One in a place that the disk cannot read
     * cannot be ended, as the kernel reads a page before it writes a part of it: it stays without a
     * row, and who starts later and can read it keeps the newer one, or finds a chunk that nothing
     * refers to.
     *
     * @param damaged whether the record could not be read
     * @param ticket what is returned when it stays
     * @return the ticket of its end
     */
    long endOrLeave(ChunkKey key, ChunkLocation location, boolean damaged, long ticket)
            throws IOException {
        try {
            endOriginal(key);
            return files.kill(location, checkpoints.epoch());
        } catch (IOException e) {
            if (!damaged || groupSync.failure() != null || e instanceof ClosedChannelException) {
                throw e;
            }
            LOG.warn(
                    "the record of chunk {} in {} at {} stays: {}",
                    key,
                    location.segment().path(),
                    location.offset(),
                    e.toString());
            return ticket;
        }
    }

    /**
     * As {@link #endOrLeave}, of a chunk whose row was just removed: it gets that back if its
     * record lives on, and would else be found by the next start only. Then it counts as damaged.
     */
    long endRemoved(ChunkKey key, ChunkLocation location, boolean damaged) throws IOException {
        try {
            return endOrLeave(key, location, damaged, groupSync.latest());
        } catch (IOException e) {
            try {
                var _ = table.replace(key, location);
                if (groupSync.failure() == null && !(e instanceof ClosedChannelException)) {
                    table.corrupt().add(key);
                }
            } catch (UncheckedIOException refused) {
                e.addSuppressed(refused);
            }
            throw e;
        }
    }
}
