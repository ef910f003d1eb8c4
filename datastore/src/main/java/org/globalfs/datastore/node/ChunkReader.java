package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.locks.ReentrantLock;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a store's chunks where its table says they are, and notes those that are damaged. Takes no
 * lock for reading: a chunk that is deleted meanwhile fails its checksum or finds its file closed,
 * and is looked for again.
 */
final class ChunkReader {
    private static final Logger LOG = LoggerFactory.getLogger(ChunkReader.class);
    private static final int ATTEMPTS = 3;

    private final ChunkTable table;
    private final GroupSync groupSync;
    private final ReentrantLock indexLock;
    private final FaultPoints faults;

    /**
     * @param indexLock held while a chunk's place in the table changes
     */
    ChunkReader(
            ChunkTable table, GroupSync groupSync, ReentrantLock indexLock, FaultPoints faults) {
        this.table = table;
        this.groupSync = groupSync;
        this.indexLock = indexLock;
        this.faults = faults;
    }

    /** As {@link SegmentStore#read}. */
    ChunkStatus read(
            ChunkKey key, int offset, int length, ByteBuffer into, @Nullable DirectReads direct)
            throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            ChunkLocation location = table.location(key);
            if (location == null) {
                return ChunkStatus.NOT_FOUND;
            }
            if (offset < 0 || length < 0 || offset > location.dataBytes() - length) {
                return ChunkStatus.BAD_REQUEST;
            }
            String damage = "its bytes are not those that were written";
            try {
                faults.reading(location.segment().path(), location.offset());
                if (RecordReader.read(location, key, offset, length, into, direct)) {
                    return ChunkStatus.OK;
                }
            } catch (ClosedChannelException e) {
                if (location.equals(table.location(key))) {
                    throw e;
                }
            } catch (IOException e) {
                damage = unreadable(e);
            }
            if (noteDamaged(key, location, damage)) {
                return ChunkStatus.CORRUPT;
            }
        }
        return ChunkStatus.NOT_FOUND;
    }

    /** As {@link SegmentStore#pages}. */
    @Nullable StoredPages pages(ChunkKey key, int offset, int length) throws IOException {
        ChunkLocation location = table.location(key);
        if (location == null || table.corrupt().contains(key)) {
            return null;
        }
        faults.reading(location.segment().path(), location.offset());
        return StoredPages.of(location, key, offset, length);
    }

    /** As {@link SegmentStore#header}. */
    @Nullable ChunkRecord header(ChunkKey key) throws IOException {
        ChunkLocation location = table.location(key);
        if (location == null) {
            return null;
        }
        try {
            faults.reading(location.segment().path(), location.offset());
            return RecordReader.header(location, key);
        } catch (IOException e) {
            var _ = noteDamaged(key, location, unreadable(e));
            return null;
        }
    }

    /**
     * A record that the disk does not give is as damaged as one that it gives wrong: written anew
     * elsewhere, it can be read again. But a store that failed cannot write it anew.
     */
    private String unreadable(IOException e) throws IOException {
        if (groupSync.failure() != null) {
            throw e;
        }
        return e.toString();
    }

    /** False: the chunk has gone from there, so that nothing is known of it. */
    private boolean noteDamaged(ChunkKey key, ChunkLocation location, String why) {
        indexLock.lock();
        try {
            if (!location.equals(table.location(key))) {
                return false;
            }
            faults.noting(key);
            if (table.corrupt().add(key)) {
                LOG.error(
                        "chunk {} in {} at {} is corrupt: {}",
                        key,
                        location.segment().path(),
                        location.offset(),
                        why);
            }
            return true;
        } finally {
            indexLock.unlock();
        }
    }
}
