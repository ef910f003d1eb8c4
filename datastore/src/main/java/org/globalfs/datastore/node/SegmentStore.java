package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
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
 * Chunks of one node: segment files on disk, and an index that says where in them each chunk is.
 *
 * <p>State: `index` says where each readable chunk is, and comes from its last checkpoint and from
 * the segments that changed since; `files` holds every segment, of which the last one takes
 * appends. Lock order: append lock, then the index lock, then the monitor of `leaving`, then a
 * segment's, then GroupSync's lock. A put is durable once {@link #sync} returns for its ticket.
 * Reads take no lock: a chunk that is deleted under a reader fails its checksum or finds its file
 * closed, and the reader looks again.
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
            @Nullable String home) {

        ChunkIndex.Row row() {
            return new ChunkIndex.Row(
                    segment.number(), offset, recordBytes, dataBytes, shape, home);
        }

        boolean isNewerThan(Location other) {
            int order = Integer.compare(segment.number(), other.segment.number());
            return order > 0 || order == 0 && offset > other.offset;
        }
    }

    /** A completed write: wait for `ticket` before acknowledging. */
    record Written(ChunkStatus status, long ticket) {}

    static final String INDEX = "index";

    /** A start looks through what was written, and the segments in which something died, since. */
    private static final long CHECKPOINT_NS = 60_000_000_000L;

    private static final long CLOSE_MS = 10_000;

    private final Path folder;
    private final Options options;
    private final DiskWatch disk;
    private final FaultPoints faults;
    private final ChunkIndex index;

    /** The index' epoch: number of the checkpoint that what changes now will be in. */
    private volatile long epoch;

    private volatile long checkpointNs = System.nanoTime();
    private final AtomicBoolean checkpointing = new AtomicBoolean();

    /** Segments that the index knows the dead records of. Guarded by indexLock. */
    private final Set<Integer> summarized = new HashSet<>();

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
    private final AtomicLong chunks = new AtomicLong();
    private final SegmentFolder files;
    private int lookedThrough;
    private volatile long misplaced;
    private volatile long missing;

    private SegmentStore(
            Path folder, Options options, Disk disk, FaultPoints faults, ChunkIndex index) {
        this.index = index;
        this.epoch = index.openedAt().number() + 1;
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
        try {
            return openOnce(folder, options, disk, faults);
        } catch (UncheckedIOException e) {
            if (!ChunkIndex.isDamaged(folder.resolve(INDEX))) {
                throw e.getCause();
            }
            return openOnce(folder, options, disk, faults);
        }
    }

    private static SegmentStore openOnce(
            Path folder, Options options, Disk disk, FaultPoints faults) throws IOException {
        ChunkIndex index = ChunkIndex.open(folder.resolve(INDEX));
        SegmentStore store = new SegmentStore(folder, options, disk, faults, index);
        SegmentLoader loader = new SegmentLoader(options, faults);
        try {
            store.load(loader);
            store.files.dropDeadSegments();
            // Numbers of segments that are gone may come again: what was in them is forgotten now.
            store.checkpoint();
            return store;
        } catch (IOException | RuntimeException e) {
            loader.closeRest();
            index.close();
            store.files.close();
            throw e;
        }
    }

    /** Looks through the records of all segments that the index may not be right about. */
    private void load(SegmentLoader loader) throws IOException {
        long startNs = System.nanoTime();
        List<SegmentLoader.Opened> opened = loader.open(folder);
        Map<Integer, byte[]> trusted = new HashMap<>();
        for (SegmentLoader.Opened file : opened) {
            byte[] summary = isTrusted(file) ? index.summary(file.header().number()) : null;
            if (summary != null) {
                trusted.put(file.header().number(), summary);
            }
        }
        summarized.addAll(index.summarized());
        List<ChunkKey> gone = new ArrayList<>();
        index.forEach((key, row) -> {
            if (trusted.containsKey(row.segment())) {
                noteAdded(key, row.dataBytes(), row.home());
            } else {
                gone.add(key);
            }
        });
        gone.forEach(index::remove);
        // First, for what is found in the others may be older.
        for (SegmentLoader.Opened file : opened) {
            byte[] summary = trusted.get(file.header().number());
            if (summary != null) {
                SegmentFile segment = loader.trust(file, summary);
                files.found(segment);
                segment.punchFound();
                files.counted(segment);
            }
        }
        for (SegmentLoader.Opened file : opened) {
            if (!trusted.containsKey(file.header().number())) {
                SegmentLoader.Loaded loaded = loader.scan(file);
                adopt(loaded.segment(), loaded.found());
            }
        }
        lookedThrough = opened.size() - trusted.size();
        if (!opened.isEmpty()) {
            LOG.info(
                    "{}: {} chunks in {} segments, {} of them looked through, in {} ms",
                    folder,
                    chunks,
                    opened.size(),
                    lookedThrough,
                    (System.nanoTime() - startNs) / 1_000_000);
        }
    }

    /** Nothing in it was written, and nothing has died, since the index' checkpoint. */
    private boolean isTrusted(SegmentLoader.Opened file) {
        ChunkIndex.Checkpoint checkpoint = index.openedAt();
        return file.sealed()
                && file.header().number() < checkpoint.from()
                && file.stamp() <= checkpoint.number();
    }

    /**
     * Brings the index as it is to disk, once all that it says is on disk in the segments. Nothing
     * is written meanwhile.
     */
    void checkpoint() throws IOException {
        files.appendLock.lock();
        try {
            indexLock.lock();
            try {
                sync();
                for (Location original : originals.values()) {
                    // The index does not say that it lives, and it is not dead yet.
                    original.segment.stamp(epoch + 1);
                }
                summarize();
                long number = epoch;
                index.checkpoint(new ChunkIndex.Checkpoint(number, files.appendsFrom()));
                epoch = number + 1;
                checkpointNs = System.nanoTime();
            } finally {
                indexLock.unlock();
            }
        } finally {
            files.appendLock.unlock();
        }
        reached(Step.CHECKPOINT);
    }

    /** Append lock and index lock held. */
    private void summarize() {
        Set<Integer> there = new HashSet<>();
        for (SegmentFile segment : files.all()) {
            there.add(segment.number());
            byte[] summary = segment.summary();
            if (summary != null) {
                index.summarize(segment.number(), summary);
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

    /** Now and then, by whoever has changed something. */
    private void checkpointIfDue() throws IOException {
        if (!isCheckpointDue() || !checkpointing.compareAndSet(false, true)) {
            return; // many find it due at the same moment, and one of them is enough
        }
        try {
            if (isCheckpointDue()) {
                checkpoint();
            }
        } catch (UncheckedIOException e) {
            throw failed(e);
        } finally {
            checkpointing.set(false);
        }
    }

    private boolean isCheckpointDue() throws IOException {
        long changes = index.changes();
        boolean many = changes >= ChunkIndex.MAX_CHANGES;
        boolean old = changes > 0 && System.nanoTime() - checkpointNs >= CHECKPOINT_NS;
        return (many || old)
                && groupSync.failure() == null
                && (hasRoomForIndex() || changes >= ChunkIndex.MOST_CHANGES);
    }

    /**
     * The index takes no changes: as with a disk that fails, nothing is written any more. With one
     * that is full RocksDB goes on by itself once there is room.
     */
    private IOException failed(UncheckedIOException e) {
        IOException failure = new IOException(e.getMessage(), e);
        if (!Disk.isFull(failure)) {
            groupSync.fail(failure);
            LOG.error("{}: the index failed, no more writes", folder, e);
        }
        return failure;
    }

    /** A checkpoint that finds none would stop the index; deletes have to go on. */
    private boolean hasRoomForIndex() throws IOException {
        return disk.look(0) + disk.reservedBytes() >= ChunkIndex.CHECKPOINT_BYTES;
    }

    private void adopt(SegmentFile segment, SegmentScan.Found found) throws IOException {
        files.found(segment);
        for (ChunkRecord record : found.records()) {
            if (!record.live()) {
                segment.foundDead(record.offset(), record.recordBytes());
                continue;
            }
            boolean torn = found.torn().contains(record.offset());
            Location location =
                    new Location(
                            segment,
                            record.offset(),
                            record.recordBytes(),
                            record.dataBytes(),
                            record.shape(),
                            record.home());
            Location other = location(record.key());
            if (other != null && (torn || other.isNewerThan(location))) {
                // It serves still, or already.
                kill(location);
                continue;
            }
            replace(record.key(), location);
            if (other != null) {
                kill(other); // or it might come back once the newer one is dead
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

    /** The chunk is at this place from now on; returns where it was. */
    private @Nullable Location replace(ChunkKey key, Location location) {
        Location old = location(key);
        index.put(key, location.row());
        noteAdded(key, location.dataBytes, location.home);
        if (old != null) {
            noteRemoved(key, old, location.home);
        }
        return old;
    }

    /** Returns where the chunk was; null: it was nowhere. */
    private @Nullable Location remove(ChunkKey key) {
        Location old = location(key);
        if (old != null) {
            index.remove(key);
            noteRemoved(key, old, null);
        }
        return old;
    }

    private void noteAdded(ChunkKey key, int bytes, @Nullable String home) {
        chunks.incrementAndGet();
        liveBytes.addAndGet(bytes);
        if (home != null) {
            handoffs.computeIfAbsent(home, node -> new ConcurrentSkipListSet<>()).add(key);
        }
    }

    private void noteRemoved(ChunkKey key, Location location, @Nullable String nowKeptFor) {
        chunks.decrementAndGet();
        liveBytes.addAndGet(-location.dataBytes);
        if (location.home != null && !location.home.equals(nowKeptFor)) {
            NavigableSet<ChunkKey> keys = handoffs.get(location.home);
            if (keys != null) {
                keys.remove(key);
            }
        }
    }

    /** A record dies; returns the ticket of that. */
    private long kill(Location location) throws IOException {
        location.segment.stamp(epoch);
        location.segment.kill(location.offset, location.recordBytes);
        return groupSync.wrote(location.segment);
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
        } catch (UncheckedIOException e) {
            throw failed(e);
        } finally {
            files.appendLock.unlock();
        }
        checkpointIfDue();
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
                old = replace(key, location);
                leaving.remove(key);
            }
            if (old != null) {
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
        long ticket = kill(location);
        Location original = originals.remove(key);
        return original == null ? ticket : kill(original);
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
            Location old = location(key);
            boolean there = old != null && old.dataBytes == bytes && !corrupt.contains(key);
            if (there) {
                leaving.remove(key);
            }
            return there;
        }
    }

    /** Housekeeping; called now and then. */
    void tick() throws IOException {
        recentDeletes.age();
        checkpointIfDue();
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
            Location location = location(key);
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
                if (location.equals(location(key))) {
                    throw e;
                }
            }
            if (location.equals(location(key))) {
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
        Location location = location(key);
        return location == null ? null : RecordReader.header(location, key);
    }

    /** Returns once everything that was written before is on disk. */
    public void sync() throws IOException {
        groupSync.await(groupSync.latest());
    }

    public boolean has(ChunkKey key) {
        return location(key) != null && !corrupt.contains(key);
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
                location = leaving.remove(key) ? remove(key) : null;
            }
            if (location != null) {
                ticket = ended(key, location);
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
        ChunkIndex.Row row = index.get(key);
        return row == null ? null : location(row);
    }

    /** Null: its segment has just gone, as all in it was dead. */
    private @Nullable Location location(ChunkIndex.Row row) {
        SegmentFile segment = files.segment(row.segment());
        return segment == null
                ? null
                : new Location(
                        segment,
                        row.offset(),
                        row.recordBytes(),
                        row.dataBytes(),
                        row.shape(),
                        row.home());
    }

    /** Chunks after `after` (null: from the first) in key order. */
    public List<Map.Entry<ChunkKey, Location>> list(@Nullable ChunkKey after, int limit) {
        List<Map.Entry<ChunkKey, Location>> found = new ArrayList<>();
        List<Map.Entry<ChunkKey, ChunkIndex.Row>> rows = index.list(after, limit);
        while (!rows.isEmpty() && found.size() < limit) {
            for (Map.Entry<ChunkKey, ChunkIndex.Row> row : rows) {
                Location location = location(row.getValue());
                if (location != null) {
                    found.add(Map.entry(row.getKey(), location));
                }
            }
            rows =
                    found.size() == rows.size()
                            ? List.of()
                            : index.list(rows.getLast().getKey(), limit - found.size());
        }
        return found;
    }

    /** The chunk that is the last one in key order; null: there is none. */
    @Nullable ChunkKey last() {
        return index.last();
    }

    /** How many it holds. */
    int count() {
        return (int) Math.min(Integer.MAX_VALUE, chunks.get());
    }

    /** Chunks that were found damaged and are not mended yet. */
    public Set<ChunkKey> corrupt() {
        return corrupt;
    }

    /** How many chunks there are. */
    public long chunks() {
        return chunks.get();
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
            Location found = location(key);
            if (found == null) {
                continue;
            }
            found.segment.stamp(epoch); // takes its time, so not with the lock
            indexLock.lock();
            try {
                Location location = remove(key);
                if (location != null) {
                    ended(key, location);
                    killed.add(location);
                }
            } finally {
                indexLock.unlock();
            }
        }
        checkpointIfDue();
        return killed;
    }

    /**
     * Of a chunk that is in the index no more; returns the ticket of its durable end. Index lock
     * held.
     */
    private long ended(ChunkKey key, Location location) throws IOException {
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
                if (!from.equals(location(key))) {
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
                index.put(key, to.row());
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
        } catch (UncheckedIOException e) {
            throw failed(e);
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
                    kill(original);
                }
            } finally {
                indexLock.unlock();
            }
        }
        reached(Step.ORIGINALS_DEAD);
        sync();
    }

    /** Segments whose records were read at the start. */
    int lookedThrough() {
        return lookedThrough;
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
                chunks.get(),
                handoffChunks,
                corrupt.size(),
                files.count(),
                groupSync.failure() == null,
                misplaced,
                missing);
    }

    @Override
    public void close() throws IOException {
        try {
            if (groupSync.failure() == null) {
                if (index.changes() > 0) {
                    checkpoint();
                }
                index.awaitWritten(CLOSE_MS);
            }
        } finally {
            index.close();
            files.close();
        }
    }
}
