package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;
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
 * <p>State: `index` says where each readable chunk is; `segments` holds every file, of which the
 * last one takes appends. Lock order: append lock, then the index lock, then the monitor of
 * `leaving`, then a segment's, then GroupSync's lock. A put is durable once {@link #sync} returns
 * for its ticket. Reads take no lock: a chunk that is deleted under a reader fails its checksum or
 * finds its file closed, and the reader looks again.
 */
public final class SegmentStore implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentStore.class);

    /** Records up to this size are written into prepared (zeroed) space when there is some. */
    private static final int SMALL_BYTES = 128 << 10;

    private static final int PREPARE_AHEAD = 1 << 20;
    private static final int PREPARE_STEP = 256 << 10;
    private static final int PREPARE_ROUNDS = 8;

    /** The segment that takes appends is not sealed for less garbage than this part of its size. */
    private static final int ACTIVE_GARBAGE_PART = 8;

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
    private final AtomicLong usedBytes = new AtomicLong();

    private final ReentrantLock appendLock = new ReentrantLock();
    private final TreeMap<Integer, SegmentFile> segments = new TreeMap<>();
    private @Nullable SegmentFile active;
    private int nextSegment = 1;
    private final ByteBuffer recordHeader = ByteBuffer.allocateDirect(ChunkRecord.MAX_HEADER_BYTES);
    private boolean preparing;
    private volatile long misplaced;
    private volatile long missing;
    private boolean closed;

    private SegmentStore(Path folder, Options options, Disk disk, FaultPoints faults) {
        this.faults = faults;
        this.folder = folder;
        this.options = options;
        this.disk =
                new DiskWatch("storage node " + options.node, folder, disk, options.reservedBytes);
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
            store.dropDeadSegments();
        } catch (IOException | RuntimeException e) {
            store.close();
            throw e;
        }
        return store;
    }

    private void adopt(SegmentFile segment, SegmentScan.Found found) throws IOException {
        segments.put(segment.number(), segment);
        nextSegment = segment.number() + 1;
        if (!segment.sealed()) {
            SegmentFile previous = active;
            if (previous != null) {
                previous.seal(options.cluster, options.node);
            }
            active = segment;
        }
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
        usedBytes.addAndGet(segment.usedBytes());
    }

    private void dropDeadSegments() throws IOException {
        for (SegmentFile segment : List.copyOf(segments.values())) {
            if (segment.sealed() && segment.whollyDead()) {
                drop(segment);
            }
        }
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
        appendLock.lock();
        try {
            segment = roomFor(recordBytes, false);
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
            append(record, data);
            ticket = enter(key, location);
            faults.reached(Step.RECORD_ENTERED, segment.path());
            prepareIfUseful(segment, recordBytes);
        } catch (IOException e) {
            if (Disk.isFull(e)) {
                disk.look(Long.MAX_VALUE / 2); // said once, whatever the reserve is
                return new Written(ChunkStatus.NO_SPACE, 0);
            }
            groupSync.fail(e);
            throw e;
        } finally {
            appendLock.unlock();
        }
        if (recentDeletes.contains(key)) {
            delete(List.of(key)); // the block's delete overtook this write
            return new Written(ChunkStatus.DELETED, 0);
        }
        return new Written(ChunkStatus.OK, ticket);
    }

    /** Writes a record where the active segment ends. Append lock held. */
    private void append(ChunkRecord record, ByteBuffer data) throws IOException {
        SegmentFile segment = Objects.requireNonNull(active);
        recordHeader.clear();
        record.write(recordHeader);
        segment.append(recordHeader.flip(), data, record.recordBytes());
        usedBytes.addAndGet(record.recordBytes());
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

    /**
     * The segment that takes a record of this size, begun if need be; null: no space.
     *
     * @param frees it is a copy of one that goes then: may take the reserve, and more than the
     *     capacity meanwhile, so that a full node can be rid of its garbage
     */
    private @Nullable SegmentFile roomFor(int recordBytes, boolean frees) throws IOException {
        if (!frees && usedBytes.get() + recordBytes > options.capacityBytes) {
            return null;
        }
        SegmentFile segment = active;
        if (segment != null && segment.tail() + recordBytes > options.segmentBytes) {
            sealActive(segment);
            segment = null;
        }
        int needed = SegmentFile.HEADER_BYTES + recordBytes;
        if (segment == null) {
            if (free(needed, frees) < needed) {
                return null;
            }
            segment =
                    SegmentFile.create(folder, nextSegment, options.cluster, options.node, faults);
            nextSegment++;
            usedBytes.addAndGet(segment.usedBytes());
            segments.put(segment.number(), segment);
            active = segment;
        }
        int end = segment.tail() + recordBytes;
        return hasRoom(segment, end, frees) ? segment : null;
    }

    private void sealActive(SegmentFile segment) throws IOException {
        segment.seal(options.cluster, options.node);
        active = null;
        if (segment.whollyDead()) {
            drop(segment);
        }
    }

    /** What may be taken of the disk. */
    private long free(int needed, boolean withReserve) throws IOException {
        return disk.look(needed) + (withReserve ? disk.reservedBytes() : 0);
    }

    /** Whether the segment's space up to there is reserved, on disk and beside what is not ours. */
    private boolean hasRoom(SegmentFile segment, int end, boolean frees) throws IOException {
        int missing = end - segment.allocated();
        if (missing <= 0) {
            return true;
        }
        long free = free(missing, frees);
        int step = Math.min(Options.ALLOCATION_STEP, options.segmentBytes - segment.allocated());
        return free >= missing
                && segment.reserve(
                        end, Math.clamp(free / Options.ALLOCATION_PART, 0, Math.max(step, 0)));
    }

    private void prepareIfUseful(SegmentFile segment, int recordBytes) {
        if (recordBytes > SMALL_BYTES
                || preparing
                || segment.prepared() - segment.tail() > PREPARE_AHEAD) {
            return;
        }
        preparing = true;
        SegmentPreparer.submit(() -> prepare(segment));
    }

    private void prepare(SegmentFile segment) {
        ByteBuffer zeros = SegmentPreparer.zeros(PREPARE_STEP);
        try {
            for (int round = 0; round < PREPARE_ROUNDS; round++) {
                appendLock.lock();
                try {
                    if (closed || segment.sealed()) {
                        return;
                    }
                    int ahead = segment.prepared() + PREPARE_STEP;
                    if (ahead > options.segmentBytes || !hasRoom(segment, ahead, false)) {
                        return;
                    }
                    segment.prepare(zeros.duplicate());
                } finally {
                    appendLock.unlock();
                }
                segment.sync();
            }
        } catch (ClosedChannelException e) {
            LOG.debug("{} closed while being prepared", segment.path());
        } catch (IOException e) {
            groupSync.fail(e);
            LOG.error("{}: disk failed, no more writes", folder, e);
        } finally {
            prepared();
        }
    }

    private void prepared() {
        appendLock.lock();
        try {
            preparing = false;
        } finally {
            appendLock.unlock();
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
                if (readAt(location, key, offset, length, into)) {
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
        return ChunkRecord.MAX_HEADER_BYTES + length + 2 * ChunkRecord.PAGE_BYTES;
    }

    private static boolean readAt(
            Location location, ChunkKey key, int offset, int length, ByteBuffer into)
            throws IOException {
        int headerBytes =
                ChunkRecord.headerBytes(ChunkRecord.homeBytes(location.home), location.dataBytes);
        int firstPage = offset / ChunkRecord.PAGE_BYTES;
        int from = firstPage * ChunkRecord.PAGE_BYTES;
        int to =
                Math.min(
                        location.dataBytes,
                        ChunkRecord.pages(offset + length) * ChunkRecord.PAGE_BYTES);
        into.clear();
        into.limit(from == 0 ? headerBytes + Math.max(0, to) : headerBytes);
        location.segment.read(into, location.offset);
        if (from > 0) {
            into.limit(headerBytes + to - from);
            location.segment.read(into, (long) location.offset + headerBytes + from);
        }
        if (into.hasRemaining()) {
            return false; // the file ends before the record does
        }
        into.flip();
        ChunkRecord.Parsed parsed =
                ChunkRecord.parse(into, 0, location.segment.number(), location.offset);
        if (!(parsed instanceof ChunkRecord.Parsed.Valid(ChunkRecord record))
                || !record.live()
                || !record.key().equals(key)) {
            return false;
        }
        CRC32C crc = new CRC32C();
        for (int page = firstPage, at = from; at < to; page++, at += ChunkRecord.PAGE_BYTES) {
            int bytes = Math.min(ChunkRecord.PAGE_BYTES, to - at);
            crc.reset();
            crc.update(into.slice(headerBytes + at - from, bytes));
            if ((int) crc.getValue() != record.pageCrcs()[page]) {
                return false;
            }
        }
        into.position(headerBytes + offset - from);
        into.limit(headerBytes + offset - from + length);
        return true;
    }

    /**
     * The header of a chunk's record, for handing the chunk on; null when it is gone or damaged.
     */
    @Nullable ChunkRecord header(ChunkKey key) throws IOException {
        Location location = index.get(key);
        if (location == null) {
            return null;
        }
        ByteBuffer buffer = BufferPool.take(ChunkRecord.MAX_HEADER_BYTES);
        try {
            int headerBytes =
                    ChunkRecord.headerBytes(
                            ChunkRecord.homeBytes(location.home), location.dataBytes);
            location.segment.read(buffer.limit(headerBytes), location.offset);
            ChunkRecord.Parsed parsed =
                    ChunkRecord.parse(buffer.flip(), 0, location.segment.number(), location.offset);
            return parsed instanceof ChunkRecord.Parsed.Valid(ChunkRecord record)
                            && record.key().equals(key)
                    ? record
                    : null;
        } catch (ClosedChannelException e) {
            return null;
        } finally {
            BufferPool.give(buffer);
        }
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
            reclaim(List.of(location), true);
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
        reclaim(killAll(keys), false);
    }

    /** Disk space that a chunk takes. */
    public static int recordBytes(int dataBytes) {
        return ChunkRecord.recordBytes(0, dataBytes);
    }

    /** Deletes chunks; durable when it returns, whoever deleted them. */
    int delete(List<ChunkKey> keys) throws IOException {
        List<Location> killed = killAll(keys);
        sync();
        reclaim(killed, true);
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

    private void reclaim(List<Location> killed, boolean synced) throws IOException {
        for (Location location : killed) {
            if (location.segment.sealed() && location.segment.whollyDead()) {
                appendLock.lock();
                try {
                    drop(location.segment);
                } finally {
                    appendLock.unlock();
                }
            } else {
                usedBytes.addAndGet(-location.segment.punchAround(location.offset, synced));
            }
        }
    }

    /** Append lock held. */
    private void drop(SegmentFile segment) throws IOException {
        // A power failure may undo the removal: nothing in the file may be live then.
        segment.sync();
        groupSync.forget(segment);
        segments.remove(segment.number());
        long used = segment.usedBytes();
        if (segment.remove()) {
            usedBytes.addAndGet(-used);
            LOG.debug("{} removed, all its chunks are deleted", segment.path());
        }
    }

    /** Sealed segments that {@link Compaction} should empty, the most wasteful first. */
    List<SegmentFile> wasteful() throws IOException {
        appendLock.lock();
        try {
            SegmentFile last = active;
            if (last != null
                    && last.isWasteful()
                    && last.garbageBytes() >= options.segmentBytes / ACTIVE_GARBAGE_PART) {
                sealActive(last);
            }
            return segments.values().stream()
                    .filter(segment -> segment.sealed() && segment.isWasteful())
                    .sorted(Comparator.comparingLong(SegmentFile::garbageBytes).reversed())
                    .toList();
        } finally {
            appendLock.unlock();
        }
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
        appendLock.lock();
        try {
            SegmentFile segment = roomFor(from.recordBytes, true);
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
                append(record, data);
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
            appendLock.unlock();
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

    /** Removes a sealed segment that has no live record left; false: it has. */
    boolean dropIfDead(SegmentFile segment) throws IOException {
        appendLock.lock();
        try {
            if (segment.isEmptied()) {
                drop(segment);
            }
            return segment.isRemoved();
        } finally {
            appendLock.unlock();
        }
    }

    /** Bytes on disk that belong to no live chunk. */
    long garbageBytes() {
        appendLock.lock();
        try {
            return segments.values().stream().mapToLong(SegmentFile::garbageBytes).sum();
        } finally {
            appendLock.unlock();
        }
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
        int count;
        appendLock.lock();
        try {
            count = segments.size();
        } finally {
            appendLock.unlock();
        }
        long used = usedBytes.get();
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
                count,
                groupSync.failure() == null,
                misplaced,
                missing);
    }

    @Override
    public void close() throws IOException {
        appendLock.lock();
        try {
            closed = true;
            for (SegmentFile segment : segments.values()) {
                if (groupSync.failure() == null) {
                    segment.sync();
                }
                segment.close();
            }
        } finally {
            appendLock.unlock();
        }
    }
}
