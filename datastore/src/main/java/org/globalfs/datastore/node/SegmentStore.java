package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.NodeStatistics;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskWatch;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chunks of one node: an index in memory over segment files on disk.
 *
 * <p>State: `index` says where each readable chunk is; `files` holds every segment, of which the
 * last one takes appends. Lock order: append lock, then the index lock, then the monitor of
 * `leaving`, then a segment's, then GroupSync's lock. A put is durable once {@link #sync} returns
 * for its ticket. Reads take no lock: a chunk that is deleted under a reader fails its checksum or
 * finds its file closed, and the reader looks again.
 */
public final class SegmentStore implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentStore.class);

    /**
     * Where things are and how much may be used.
     *
     * @param capacityBytes disk space that chunks may take
     * @param reservedBytes free space of the disk that is left to others
     */
    public record Options(
            String cluster, String node, long capacityBytes, long reservedBytes, int segmentBytes) {
        public static final int DEFAULT_SEGMENT_BYTES = 64 << 20;
        static final int ALLOCATION_STEP = 8 << 20;

        /** Many nodes may be on one disk, and all reserve ahead at once. */
        static final int ALLOCATION_PART = 32;
    }

    /** Where a chunk is. */
    public record Location(
            SegmentFile segment,
            int offset,
            int recordBytes,
            int dataBytes,
            ChunkShape shape,
            @Nullable String home) {}

    /** A completed write: wait for `ticket` before acknowledging. */
    record Written(ChunkStatus status, long ticket) {}

    private final Path folder;
    private final Options options;
    private final DiskWatch disk;
    private final FaultPoints faults;
    private final ConcurrentSkipListMap<ChunkKey, Location> index = new ConcurrentSkipListMap<>();

    /** Chunks that another node is being given. Guards that none of them goes that is put again. */
    private final Set<ChunkKey> leaving = new HashSet<>();

    /**
     * Older records of chunks that {@link Compaction} has copied, until they are dead: who deletes
     * such a chunk ends both. Guarded by indexLock.
     */
    private final Map<ChunkKey, Location> originals = new HashMap<>();

    /** Held while a chunk's place in the index and its records on disk change together. */
    private final ReentrantLock indexLock = new ReentrantLock();

    private final Set<ChunkKey> corrupt = ConcurrentHashMap.newKeySet();
    private final Map<String, NavigableSet<ChunkKey>> handoffs = new ConcurrentHashMap<>();
    private final GroupSync groupSync = new GroupSync();
    private final RecentDeletes recentDeletes = new RecentDeletes();
    private final AtomicLong liveBytes = new AtomicLong();
    private final SegmentFolder files;
    private volatile long misplaced;
    private volatile long missing;

    private SegmentStore(Path folder, Options options, Disk disk, FaultPoints faults) {
        this.faults = faults;
        this.folder = folder;
        this.options = options;
        this.disk =
                new DiskWatch("storage node " + options.node, folder, disk, options.reservedBytes);
        files = new SegmentFolder(folder, options, this.disk, groupSync, faults);
    }

    /** Opens the store, scanning what is there. */
    public static SegmentStore open(Path folder, Options options) throws IOException {
        return open(folder, options, Disk.of(folder), FaultPoints.NONE);
    }

    /**
     * As {@link #open(Path, Options)}.
     *
     * @param disk another word for how much is free
     * @param faults is told of each step
     */
    static SegmentStore open(Path folder, Options options, Disk disk, FaultPoints faults)
            throws IOException {
        SegmentStore store = new SegmentStore(folder, options, disk, faults);
        try {
            SegmentLoader.load(folder, options, faults, store::adopt);
            store.files.dropDeadSegments();
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
        return store;
    }

    private void adopt(SegmentFile segment, SegmentScan.Found found) throws IOException {
        files.found(segment);
        for (ChunkRecord record : found.records()) {
            if (!record.live()) {
                segment.foundDead(record.offset(), record.recordBytes());
                continue;
            }
            boolean torn = found.torn().contains(record.offset());
            if (torn && index.containsKey(record.key())) {
                // The one that it was to replace still serves.
                segment.kill(record.offset(), record.recordBytes());
                groupSync.wrote(segment);
                continue;
            }
            Location location =
                    new Location(
                            segment,
                            record.offset(),
                            record.recordBytes(),
                            record.dataBytes(),
                            record.shape(),
                            record.home());
            Location old = index.put(record.key(), location);
            noteAdded(record.key(), location);
            if (old != null) {
                noteRemoved(record.key(), old);
                old.segment.kill(old.offset, old.recordBytes);
                groupSync.wrote(old.segment); // or it might come back once the newer one is dead
            }
            if (torn) {
                corrupt.add(record.key());
            } else {
                corrupt.remove(record.key());
            }
        }
        segment.punchFound();
        files.counted(segment);
    }

    private void noteAdded(ChunkKey key, Location location) {
        liveBytes.addAndGet(location.dataBytes);
        if (location.home != null) {
            handoffs.computeIfAbsent(location.home, home -> new ConcurrentSkipListSet<>()).add(key);
        }
    }

    private void noteRemoved(ChunkKey key, Location location) {
        liveBytes.addAndGet(-location.dataBytes);
        if (location.home != null) {
            NavigableSet<ChunkKey> keys = handoffs.get(location.home);
            Location now = index.get(key);
            if (keys != null && (now == null || !location.home.equals(now.home))) {
                keys.remove(key);
            }
        }
    }

    /**
     * Writes a chunk. A chunk that is already there is left alone: blocks are immutable.
     *
     * @param home the node it belongs to, null for this one
     * @param data a direct buffer with the chunk's bytes
     */
    Written put(ChunkKey key, ChunkShape shape, @Nullable String home, ByteBuffer data)
            throws IOException {
        if (groupSync.failure() != null) {
            return new Written(ChunkStatus.IO_ERROR, 0);
        }
        if (recentDeletes.contains(key)) {
            return new Written(ChunkStatus.DELETED, 0);
        }
        if (isThere(key, data.remaining())) {
            return new Written(ChunkStatus.OK, groupSync.latest());
        }
        int[] pageCrcs = ChunkRecord.pageCrcs(data);
        int recordBytes = ChunkRecord.recordBytes(ChunkRecord.homeBytes(home), data.remaining());
        SegmentFile segment;
        Location location;
        long ticket;
        files.appendLock.lock();
        try {
            segment = files.roomFor(recordBytes, false);
            if (segment == null) {
                return new Written(ChunkStatus.NO_SPACE, 0);
            }
            location =
                    new Location(
                            segment, segment.tail(), recordBytes, data.remaining(), shape, home);
            ChunkRecord record =
                    new ChunkRecord(
                            true,
                            key,
                            shape,
                            home,
                            System.currentTimeMillis(),
                            data.remaining(),
                            recordBytes,
                            segment.number(),
                            segment.tail(),
                            pageCrcs);
            files.append(record, data);
            ticket = enter(key, location);
            faults.reached(Step.RECORD_ENTERED, segment.path());
            files.prepareIfUseful(segment, recordBytes);
        } catch (IOException e) {
            if (Disk.isFull(e)) {
                disk.look(Long.MAX_VALUE / 2); // said once, whatever the reserve is
                return new Written(ChunkStatus.NO_SPACE, 0);
            }
            groupSync.fail(e);
            throw e;
        } finally {
            files.appendLock.unlock();
        }
        if (recentDeletes.contains(key)) {
            delete(List.of(key)); // the block's delete overtook this write
            return new Written(ChunkStatus.DELETED, 0);
        }
        return new Written(ChunkStatus.OK, ticket);
    }

    /** A written record becomes the chunk's; returns the ticket of that. Append lock held. */
    private long enter(ChunkKey key, Location location) throws IOException {
        indexLock.lock();
        try {
            // Before anybody finds the chunk, and relies on the newest ticket for it.
            long ticket = groupSync.wrote(location.segment);
            Location old;
            synchronized (leaving) {
                old = index.put(key, location);
                leaving.remove(key);
            }
            noteAdded(key, location);
            if (old != null) {
                noteRemoved(key, old);
                ticket = end(key, old);
            }
            corrupt.remove(key);
            return ticket;
        } finally {
            indexLock.unlock();
        }
    }

    /** A record that the index does not name any more dies; returns the ticket of that. */
    private long end(ChunkKey key, Location location) throws IOException {
        location.segment.kill(location.offset, location.recordBytes);
        long ticket = groupSync.wrote(location.segment);
        Location original = originals.remove(key);
        if (original != null) {
            original.segment.kill(original.offset, original.recordBytes);
            ticket = groupSync.wrote(original.segment);
        }
        return ticket;
    }

    /** As {@link #put}, and returns once the chunk is on disk. */
    ChunkStatus keep(ChunkKey key, ChunkShape shape, @Nullable String home, byte[] bytes)
            throws IOException {
        ByteBuffer data = BufferPool.take(bytes.length);
        try {
            data.clear();
            data.put(bytes).flip();
            Written written = put(key, shape, home, data);
            if (written.status() == ChunkStatus.OK) {
                sync(written.ticket());
            }
            return written.status();
        } finally {
            BufferPool.give(data);
        }
    }

    /** Whether the chunk need not be written; it stays then, wherever it was about to go. */
    private boolean isThere(ChunkKey key, int bytes) {
        synchronized (leaving) {
            Location old = index.get(key);
            boolean there = old != null && old.dataBytes == bytes && !corrupt.contains(key);
            if (there) {
                leaving.remove(key);
            }
            return there;
        }
    }

    /** Housekeeping; called now and then. */
    void tick() {
        recentDeletes.age();
    }

    /** Returns once everything up to the ticket is on disk. */
    void sync(long ticket) throws IOException {
        groupSync.await(ticket);
    }

    /**
     * Reads a range of a chunk and checks it. On OK the bytes are between position and limit of
     * `into`, which must have room for {@link #readRoom}.
     */
    public ChunkStatus read(ChunkKey key, int offset, int length, ByteBuffer into)
            throws IOException {
        for (int attempt = 0; attempt < 3; attempt++) {
            Location location = index.get(key);
            if (location == null) {
                return ChunkStatus.NOT_FOUND;
            }
            if (offset < 0 || length < 0 || offset > location.dataBytes - length) {
                return ChunkStatus.BAD_REQUEST;
            }
            try {
                if (RecordReader.read(location, key, offset, length, into)) {
                    return ChunkStatus.OK;
                }
            } catch (ClosedChannelException e) {
                if (location.equals(index.get(key))) {
                    throw e;
                }
            }
            if (location.equals(index.get(key))) {
                if (corrupt.add(key)) {
                    LOG.error(
                            "chunk {} in {} at {} is corrupt",
                            key,
                            location.segment.path(),
                            location.offset);
                }
                return ChunkStatus.CORRUPT;
            }
        }
        return ChunkStatus.NOT_FOUND;
    }

    /** Room that {@link #read} needs for a range of this length. */
    public static int readRoom(int length) {
        return RecordReader.room(length);
    }

    /**
     * The header of a chunk's record, for handing the chunk on; null when it is gone or damaged.
     */
    @Nullable ChunkRecord header(ChunkKey key) throws IOException {
        Location location = index.get(key);
        return location == null ? null : RecordReader.header(location, key);
    }

    /** Returns once everything that was written before is on disk. */
    public void sync() throws IOException {
        groupSync.await(groupSync.latest());
    }

    public boolean has(ChunkKey key) {
        return index.containsKey(key) && !corrupt.contains(key);
    }

    /** Whether it has the chunk, and is not giving it away. */
    boolean keeps(ChunkKey key) {
        synchronized (leaving) {
            return has(key) && !leaving.contains(key);
        }
    }

    /** See {@link ChunkMove}: another node is about to be asked whether it keeps the chunk. */
    void leaves(ChunkKey key) {
        synchronized (leaving) {
            leaving.add(key);
        }
    }

    /** It does not: the copy here stays. */
    void stays(ChunkKey key) {
        synchronized (leaving) {
            leaving.remove(key);
        }
    }

    /** It does: deletes the copy here, durably, unless it was put here again in the meantime. */
    void left(ChunkKey key) throws IOException {
        Location location;
        long ticket = 0;
        indexLock.lock();
        try {
            synchronized (leaving) {
                location = leaving.remove(key) ? index.remove(key) : null;
            }
            if (location != null) {
                ticket = kill(key, location);
            }
        } finally {
            indexLock.unlock();
        }
        if (location != null) {
            groupSync.await(ticket);
            files.reclaim(List.of(location), true);
        }
    }

    @Nullable Location location(ChunkKey key) {
        return index.get(key);
    }

    /** Chunks after `after` (null: from the first) in key order. */
    public List<Map.Entry<ChunkKey, Location>> list(@Nullable ChunkKey after, int limit) {
        List<Map.Entry<ChunkKey, Location>> found = new ArrayList<>();
        for (Map.Entry<ChunkKey, Location> entry :
                (after == null ? index : index.tailMap(after, false)).entrySet()) {
            if (found.size() >= limit) {
                break;
            }
            found.add(entry);
        }
        return found;
    }

    /** The chunk that is the last one in key order; null: there is none. */
    @Nullable ChunkKey last() {
        Map.Entry<ChunkKey, Location> entry = index.lastEntry();
        return entry == null ? null : entry.getKey();
    }

    /** How many it holds. */
    int count() {
        return index.size();
    }

    /** Chunks that were found damaged and are not mended yet. */
    public Set<ChunkKey> corrupt() {
        return corrupt;
    }

    /** How many chunks there are. */
    public long chunks() {
        return index.size();
    }

    /** Bytes of chunks that can be read. */
    public long liveBytes() {
        return liveBytes.get();
    }

    /** Nodes that chunks are kept for, and those chunks. */
    Map<String, NavigableSet<ChunkKey>> handoffs() {
        return handoffs;
    }

    /**
     * Deletes the chunks of blocks; durable when it returns. The blocks are remembered for a while,
     * so that a write that comes late does not bring a chunk back.
     *
     * @param blocks keys with index 0
     */
    int deleteBlocks(Collection<ChunkKey> blocks) throws IOException {
        List<ChunkKey> keys = new ArrayList<>();
        for (ChunkKey block : blocks) {
            recentDeletes.add(block);
            for (int i = 0; i < ChunkKey.MAX_CHUNKS; i++) {
                keys.add(new ChunkKey(block.idHigh(), block.idLow(), i));
            }
        }
        return delete(keys);
    }

    /** Writes a chunk that may be lost with the power. */
    public ChunkStatus put(ChunkKey key, ChunkShape shape, byte[] bytes) throws IOException {
        ByteBuffer data = BufferPool.take(bytes.length);
        try {
            return put(key, shape, null, data.put(bytes).flip()).status();
        } finally {
            BufferPool.give(data);
        }
    }

    /** Deletes chunks, which may be back, or damaged, once the power was lost. */
    public void discard(Collection<ChunkKey> keys) throws IOException {
        files.reclaim(killAll(keys), false);
    }

    /** Disk space that a chunk takes. */
    public static int recordBytes(int dataBytes) {
        return ChunkRecord.recordBytes(0, dataBytes);
    }

    /** Deletes chunks; durable when it returns, whoever deleted them. */
    int delete(List<ChunkKey> keys) throws IOException {
        List<Location> killed = killAll(keys);
        sync();
        files.reclaim(killed, true);
        return killed.size();
    }

    private List<Location> killAll(Collection<ChunkKey> keys) throws IOException {
        List<Location> killed = new ArrayList<>();
        for (ChunkKey key : keys) {
            if (!index.containsKey(key)) {
                continue;
            }
            indexLock.lock();
            try {
                Location location = index.remove(key);
                if (location != null) {
                    kill(key, location);
                    killed.add(location);
                }
            } finally {
                indexLock.unlock();
            }
        }
        return killed;
    }

    /**
     * Of a chunk that is in the index no more; returns the ticket of its durable end. Index lock
     * held.
     */
    private long kill(ChunkKey key, Location location) throws IOException {
        noteRemoved(key, location);
        corrupt.remove(key);
        return end(key, location);
    }

    /** The records of a sealed segment, as they stand in the file now. */
    List<ChunkRecord> records(SegmentFile segment) throws IOException {
        return segment.records(options.cluster, options.node);
    }

    /**
     * Writes a second record of a chunk, and lets readers find that one; the first lives on until
     * {@link #endOriginals}.
     *
     * @param data the chunk's bytes, checked
     * @return false: there is no room
     */
    boolean copy(ChunkKey key, Location from, ChunkRecord original, ByteBuffer data)
            throws IOException {
        files.appendLock.lock();
        try {
            SegmentFile segment = files.roomFor(from.recordBytes, true);
            if (segment == null) {
                return false;
            }
            indexLock.lock();
            try {
                if (!from.equals(index.get(key))) {
                    return true; // deleted, or written anew, meanwhile
                }
                ChunkRecord record = original.at(segment.number(), segment.tail());
                Location to =
                        new Location(
                                segment,
                                segment.tail(),
                                from.recordBytes,
                                from.dataBytes,
                                from.shape,
                                from.home);
                files.append(record, data);
                groupSync.wrote(segment);
                originals.put(key, from);
                index.put(key, to);
                faults.reached(Step.COPY_ENTERED, segment.path());
                return true;
            } finally {
                indexLock.unlock();
            }
        } catch (IOException e) {
            if (Disk.isFull(e)) {
                return false;
            }
            groupSync.fail(e);
            throw e;
        } finally {
            files.appendLock.unlock();
        }
    }

    /** The copies of these chunks are on disk: what they were copied from dies, durably. */
    void endOriginals(Collection<ChunkKey> keys) throws IOException {
        for (ChunkKey key : keys) {
            indexLock.lock();
            try {
                Location original = originals.remove(key);
                if (original != null) {
                    original.segment.kill(original.offset, original.recordBytes);
                    groupSync.wrote(original.segment);
                }
            } finally {
                indexLock.unlock();
            }
        }
        reached(Step.ORIGINALS_DEAD);
        sync();
    }

    /** Its files. */
    SegmentFolder files() {
        return files;
    }

    void reached(Step step) {
        faults.reached(step, folder);
    }

    /** What the last pass of {@link Repair} left. */
    void leftToRepair(long toMove, long toRebuild) {
        misplaced = toMove;
        missing = toRebuild;
    }

    NodeStatistics statistics() throws IOException {
        long used = files.usedBytes();
        long free = disk.look(0);
        long handoffChunks = 0;
        for (NavigableSet<ChunkKey> keys : handoffs.values()) {
            handoffChunks += keys.size();
        }
        return new NodeStatistics(
                Math.min(options.capacityBytes, used + Math.max(0, free)),
                used,
                liveBytes.get(),
                index.size(),
                handoffChunks,
                corrupt.size(),
                files.count(),
                groupSync.failure() == null,
                misplaced,
                missing);
    }

    @Override
    public void close() throws IOException {
        files.close();
    }
}
