package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkPages;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.HeldCode;
import org.globalfs.datastore.wire.NodeStatistics;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskWatch;
import org.globalfs.protocol.FailureNews;
import org.globalfs.protocol.discovery.StorageRoom;
import org.jspecify.annotations.Nullable;

/**
 * Chunks of one node: segment files on disk, and an index that says where in them each chunk is.
 *
 * <p>State: `index` says where each readable chunk is, and comes from its last checkpoint and from
 * the segments that changed since; `files` holds every segment, of which the last one takes
 * appends. Lock order: append lock, then the index lock, then the monitor of `leaving`, then a
 * segment's, then its sync lock or GroupSync's lock. A put is durable once {@link #sync} returns
 * for its ticket. Reads take no lock: see {@link ChunkReader}.
 */
public final class SegmentStore implements AutoCloseable {
    /**
     * Where things are and how much may be used.
     *
     * @param capacityBytes disk space that chunks may take
     * @param reservedBytes free space of the disk that is left to others
     * @param pastPageCache what nobody wants again soon is not kept in the page cache: large chunks
     *     that are written, as who wrote them has them, and all that is read once
     */
    public record Options(
            String cluster,
            String node,
            long capacityBytes,
            long reservedBytes,
            int segmentBytes,
            boolean pastPageCache) {
        public static final int DEFAULT_SEGMENT_BYTES = 64 << 20;
        static final int ALLOCATION_STEP = 8 << 20;

        /** Many nodes may be on one disk, and all reserve ahead at once. */
        static final int ALLOCATION_PART = 32;

        /** The node for people; a cache's name says that it is one, and no other has a slash. */
        String spoken() {
            return node.contains("/") ? node.replace('/', ' ') : "storage node " + node;
        }
    }

    /** A completed write: wait for `ticket` before acknowledging. */
    record Written(ChunkStatus status, long ticket) {}

    static final String INDEX = "index";

    private final Path folder;
    private final Options options;
    private final DiskWatch disk;
    private final FaultPoints faults;
    private final ChunkIndex index;

    /** Held while a chunk's place in the index and its records on disk change together. */
    private final ReentrantLock indexLock = new ReentrantLock();

    private final GroupSync groupSync = new GroupSync();
    private final RecentDeletes recentDeletes = new RecentDeletes();
    private final SegmentFolder files;
    private final ChunkTable table;
    private final Checkpoints checkpoints;
    private final LeavingChunks leaving;
    private final RecordEnds ends;
    private final IndexUpkeep upkeep;
    private final ChunkReader reader;
    private final DirectReads directReads;
    private final FailureNews failures = new FailureNews();
    private int lookedThrough;

    private volatile long misplaced;
    private volatile long missing;

    private SegmentStore(
            Path folder, Options options, Disk disk, FaultPoints faults, ChunkIndex index) {
        this.index = index;
        this.faults = faults;
        this.folder = folder;
        this.options = options;
        this.disk = new DiskWatch(options.spoken(), folder, disk, options.reservedBytes);
        files = new SegmentFolder(folder, options, this.disk, groupSync, faults);
        table = new ChunkTable(index, files, faults);
        checkpoints = new Checkpoints(index, files, groupSync, this.disk);
        leaving = new LeavingChunks(table);
        ends = new RecordEnds(table, files, checkpoints, groupSync);
        upkeep =
                new IndexUpkeep(
                        folder,
                        options,
                        index,
                        table,
                        files,
                        checkpoints,
                        ends,
                        groupSync,
                        this.disk,
                        faults,
                        indexLock);
        reader = new ChunkReader(table, groupSync, indexLock, faults);
        directReads = files.directReads();
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
        SegmentLoader loader = new SegmentLoader(options, faults);
        SegmentStore store = null;
        try {
            store = new SegmentStore(folder, options, disk, faults, index);
            store.load(loader);
            return store;
        } catch (IOException | RuntimeException e) {
            loader.closeRest();
            index.close();
            if (store != null) {
                store.files.close();
            }
            throw e;
        }
    }

    private void load(SegmentLoader loader) throws IOException {
        lookedThrough = new StoreStart(index, table, files, checkpoints, loader).load(folder);
        files.dropDeadSegments();
        // Numbers of segments that are gone may come again: what was in them is forgotten now.
        checkpoint();
    }

    /**
     * Brings the index as it is to disk, once all that it says is on disk in the segments. Nothing
     * is written meanwhile.
     */
    void checkpoint() throws IOException {
        upkeep.checkpoint();
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
        Written written;
        try {
            upkeep.renewIfDue();
            if (leaving.staysIfThere(key, data.remaining())) {
                return new Written(ChunkStatus.OK, groupSync.latest());
            }
            written = append(key, shape, home, data);
        } catch (IOException | UncheckedIOException e) {
            if (!Disk.isFull(e)) {
                IOException failure = files.failed(e);
                if (ChunkIndex.isRefusal(e)) {
                    return new Written(ChunkStatus.IO_ERROR, 0); // it has said why
                }
                throw failure;
            }
            disk.look(Long.MAX_VALUE / 2); // said once, whatever the reserve is
            return new Written(ChunkStatus.NO_SPACE, 0);
        }
        upkeep.checkpointIfDue();
        if (written.status() == ChunkStatus.OK && recentDeletes.contains(key)) {
            delete(List.of(key)); // the block's delete overtook this write
            return new Written(ChunkStatus.DELETED, 0);
        }
        return written;
    }

    private Written append(ChunkKey key, ChunkShape shape, @Nullable String home, ByteBuffer data)
            throws IOException {
        int[] pageCrcs = ChunkPages.checksums(data);
        int leastBytes = ChunkRecord.recordBytes(ChunkRecord.homeBytes(home), data.remaining());
        files.appendLock.lock();
        try {
            index.checkTakesChanges();
            if (leaving.staysIfThere(key, data.remaining())) {
                // Another request was faster: its record, which is acknowledged, must not end.
                return new Written(ChunkStatus.OK, groupSync.latest());
            }
            boolean frees = table.corrupt().contains(key); // the damaged one goes
            SegmentFolder.Room room = files.roomFor(leastBytes, frees);
            if (room == null) {
                return new Written(ChunkStatus.NO_SPACE, 0);
            }
            SegmentFile segment = room.segment();
            int recordBytes = room.recordBytes();
            ChunkLocation location =
                    new ChunkLocation(
                            segment, room.offset(), recordBytes, data.remaining(), shape, home);
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
                            room.offset(),
                            pageCrcs);
            files.append(record, data);
            long ticket = enter(key, location);
            faults.reached(Step.RECORD_ENTERED, segment.path());
            files.prepareIfUseful(segment, recordBytes);
            return new Written(ChunkStatus.OK, ticket);
        } finally {
            files.appendLock.unlock();
        }
    }

    /** A written record becomes the chunk's; returns the ticket of that. Append lock held. */
    private long enter(ChunkKey key, ChunkLocation location) throws IOException {
        indexLock.lock();
        try {
            // Before anybody finds the chunk, and relies on the newest ticket for it.
            long ticket = groupSync.wrote(location.segment());
            boolean damaged = table.corrupt().contains(key);
            ChunkLocation old = leaving.replace(key, location);
            if (old != null) {
                ticket = ends.endOrLeave(key, old, damaged, ticket);
            }
            table.corrupt().remove(key);
            return ticket;
        } catch (UncheckedIOException e) {
            ends.endUnentered(location);
            throw e;
        } finally {
            indexLock.unlock();
        }
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

    /** Housekeeping; called now and then. */
    public void tick() throws IOException {
        recentDeletes.age();
        files.checkThere();
        upkeep.renewIfDue();
        upkeep.checkpointIfDue();
    }

    /** Which of its failures the log has. */
    FailureNews failures() {
        return failures;
    }

    /** Returns once everything up to the ticket is on disk. */
    void sync(long ticket) throws IOException {
        groupSync.await(ticket);
    }

    /**
     * Reads a range of a chunk and checks it; CORRUPT: the disk gives it wrong, or not. On OK the
     * bytes are between position and limit of `into`, which must have room for {@link #readRoom}.
     */
    public ChunkStatus read(ChunkKey key, int offset, int length, ByteBuffer into)
            throws IOException {
        return reader.read(key, offset, length, into, null);
    }

    /** As {@link #read}, for who reads much, and each chunk once: others lose nothing by it. */
    ChunkStatus readOnce(ChunkKey key, int offset, int length, ByteBuffer into) throws IOException {
        return reader.read(key, offset, length, into, directReads);
    }

    /**
     * Whole pages of a chunk, not looked at: who gets them checks them, and {@link #read reads} the
     * chunk if they are not as they should be.
     *
     * @return null: it has to be read
     */
    @Nullable StoredPages pages(ChunkKey key, int offset, int length) throws IOException {
        return reader.pages(key, offset, length);
    }

    /** Room that {@link #read} needs for a range of this length. */
    public static int readRoom(int length) {
        return RecordReader.room(length);
    }

    /**
     * The header of a chunk's record, for handing the chunk on; null when it is gone or damaged.
     */
    @Nullable ChunkRecord header(ChunkKey key) throws IOException {
        return reader.header(key);
    }

    /** Returns once everything that was written before is on disk. */
    public void sync() throws IOException {
        groupSync.await(groupSync.latest());
        groupSync.checkWorks();
    }

    public boolean has(ChunkKey key) {
        return table.has(key);
    }

    /** Whether it has the chunk, and is not giving it away. */
    boolean keeps(ChunkKey key) {
        return leaving.keeps(key);
    }

    /**
     * See {@link ChunkMove}: another node is about to be asked whether it keeps the chunk.
     *
     * @return the move's mark
     */
    long leaves(ChunkKey key) {
        return leaving.leaves(key);
    }

    /** It does not: the copy here stays. */
    void stays(ChunkKey key, long mark) {
        leaving.stays(key, mark);
    }

    /** It does: deletes the copy here, durably, unless it was put here again since the mark. */
    void left(ChunkKey key, long mark) throws IOException {
        ChunkLocation location;
        long ticket = 0;
        indexLock.lock();
        try {
            boolean damaged = table.corrupt().contains(key);
            location = leaving.left(key, mark);
            if (location != null) {
                ticket = ends.endRemoved(key, location, damaged);
            }
        } catch (UncheckedIOException e) {
            throw files.failed(e);
        } finally {
            indexLock.unlock();
        }
        if (location != null) {
            groupSync.await(ticket);
            files.reclaim(List.of(location), true);
        }
    }

    @Nullable ChunkLocation location(ChunkKey key) {
        return table.location(key);
    }

    /** Chunks after `after` (null: from the first) in key order. */
    public List<Map.Entry<ChunkKey, ChunkLocation>> list(@Nullable ChunkKey after, int limit) {
        return table.list(after, limit);
    }

    /** The chunk that is the last one in key order; null: there is none. */
    @Nullable ChunkKey last() {
        return table.last();
    }

    /** A chunk that was drawn among all, larger ones more often; null: there was none. */
    @Nullable ChunkKey drawn() {
        return table.drawn();
    }

    /** How many it holds. */
    int count() {
        return (int) Math.min(Integer.MAX_VALUE, table.chunks());
    }

    /** Chunks that were found damaged and are not mended yet. */
    public Set<ChunkKey> corrupt() {
        return table.corrupt();
    }

    /** How its chunks are coded. */
    List<HeldCode> codes() {
        return table.codes();
    }

    /** How many chunks there are. */
    public long chunks() {
        return table.chunks();
    }

    /** Bytes of chunks that can be read. */
    public long liveBytes() {
        return table.liveBytes();
    }

    /** Nodes that chunks are kept for, and those chunks. */
    Map<String, NavigableSet<ChunkKey>> handoffs() {
        return table.handoffs();
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

    /** Disk space that a chunk takes at least. */
    public static int recordBytes(int dataBytes) {
        return ChunkRecord.recordBytes(0, dataBytes);
    }

    /** Deletes chunks; durable when it returns, whoever deleted them. */
    int delete(List<ChunkKey> keys) throws IOException {
        List<ChunkLocation> killed = killAll(keys);
        sync();
        files.reclaim(killed, true);
        return killed.size();
    }

    private List<ChunkLocation> killAll(Collection<ChunkKey> keys) throws IOException {
        List<ChunkLocation> killed = new ArrayList<>();
        for (ChunkKey key : keys) {
            ChunkLocation found = table.location(key);
            if (found == null) {
                continue;
            }
            // It takes its time, so not with the lock.
            files.stamp(found.segment(), checkpoints.epoch());
            indexLock.lock();
            try {
                boolean damaged = table.corrupt().contains(key);
                ChunkLocation location = table.remove(key);
                if (location != null) {
                    ends.endRemoved(key, location, damaged);
                    killed.add(location);
                }
            } catch (UncheckedIOException e) {
                throw files.failed(e);
            } finally {
                indexLock.unlock();
            }
        }
        upkeep.checkpointIfDue();
        return killed;
    }

    /** The records of a sealed segment, as they stand in the file now. */
    List<ChunkRecord> records(SegmentFile segment) throws IOException {
        faults.reading(segment.path(), 0);
        return segment.records(options.cluster, options.node);
    }

    /**
     * Writes a second record of a chunk, and lets readers find that one; the first lives on until
     * {@link #endOriginals}.
     *
     * @param data the chunk's bytes, checked
     * @return false: there is no room
     * @throws IOException also where the disk failed before: nobody is led to what is never synced
     */
    boolean copy(ChunkKey key, ChunkLocation from, ChunkRecord original, ByteBuffer data)
            throws IOException {
        files.appendLock.lock();
        try {
            groupSync.checkWorks();
            index.checkTakesChanges();
            int leastBytes =
                    ChunkRecord.recordBytes(ChunkRecord.homeBytes(from.home()), from.dataBytes());
            SegmentFolder.Room room = files.roomFor(leastBytes, true);
            if (room == null) {
                return false;
            }
            SegmentFile segment = room.segment();
            indexLock.lock();
            try {
                if (!from.equals(table.location(key))) {
                    return true; // deleted, or written anew, meanwhile
                }
                ChunkRecord record =
                        original.at(segment.number(), room.offset(), room.recordBytes());
                ChunkLocation to =
                        new ChunkLocation(
                                segment,
                                room.offset(),
                                room.recordBytes(),
                                from.dataBytes(),
                                from.shape(),
                                from.home());
                files.append(record, data);
                groupSync.wrote(segment);
                relocate(key, to);
                ends.copied(key, from); // not before: it dies once the chunk is elsewhere
                faults.reached(Step.COPY_ENTERED, segment.path());
                return true;
            } finally {
                indexLock.unlock();
            }
        } catch (IOException | UncheckedIOException e) {
            if (!Disk.isFull(e)) {
                throw files.failed(e);
            }
            return false;
        } finally {
            files.appendLock.unlock();
        }
    }

    /** Index lock held. */
    private void relocate(ChunkKey key, ChunkLocation to) throws IOException {
        try {
            table.relocate(key, to);
        } catch (UncheckedIOException e) {
            ends.endUnentered(to);
            throw e;
        }
    }

    /** The copies of these chunks are on disk: what they were copied from dies, durably. */
    void endOriginals(Collection<ChunkKey> keys) throws IOException {
        for (ChunkKey key : keys) {
            stampOriginal(key);
            indexLock.lock();
            try {
                ends.endOriginal(key);
            } finally {
                indexLock.unlock();
            }
        }
        reached(Step.ORIGINALS_DEAD);
        sync();
    }

    /** It takes its time, so not with the lock with which the record dies. */
    private void stampOriginal(ChunkKey key) throws IOException {
        ChunkLocation original;
        indexLock.lock();
        try {
            original = ends.original(key);
        } finally {
            indexLock.unlock();
        }
        if (original != null) {
            files.stamp(original.segment(), checkpoints.epoch());
        }
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

    /** What it can hold, and its disk has left. */
    StorageRoom room() throws IOException {
        long used = files.usedBytes();
        long free = Math.max(0, disk.look(0));
        return new StorageRoom(capacity(used, free), used, Disk.identity(folder), free);
    }

    private long capacity(long used, long free) {
        return Math.min(options.capacityBytes, used + free);
    }

    /** None where nobody can tell: its folder is gone, or its disk, and the room report says so. */
    private long freeOrNone() {
        try {
            return Math.max(0, disk.look(0));
        } catch (IOException e) {
            return 0;
        }
    }

    NodeStatistics statistics() throws IOException {
        return statistics(_ -> true, ScrubOptions.NEVER);
    }

    /**
     * How full it is, and how well.
     *
     * @param awaited whether what is kept for a node is to go there
     * @param scrubbing how damage is looked for
     */
    NodeStatistics statistics(Predicate<String> awaited, ScrubOptions scrubbing)
            throws IOException {
        long used = files.usedBytes();
        return new NodeStatistics(
                capacity(used, freeOrNone()),
                used,
                table.liveBytes(),
                table.chunks(),
                table.handoffChunks(awaited),
                table.corrupt().size(),
                files.count(),
                groupSync.failure() == null && !index.isBroken(),
                misplaced,
                missing,
                scrubbing.periodMs(),
                scrubbing.bytesPerSecond());
    }

    @Override
    public void close() throws IOException {
        try {
            upkeep.finish();
        } finally {
            index.close();
            files.close();
        }
    }
}
