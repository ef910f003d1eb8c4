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
import org.globalfs.protocol.discovery.StorageRoom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    /** A completed write: wait for `ticket` before acknowledging. */
    record Written(ChunkStatus status, long ticket) {}

    static final String INDEX = "index";

    private static final long CLOSE_MS = 10_000;

    /** An index that could not be written anew is left alone for so long. */
    private static final long RENEW_AGAIN_NS = 5_000_000_000L;

    /** Likewise, where all segments have to be read for it. */
    private static final long REMAKE_AGAIN_NS = 60_000_000_000L;

    private final Path folder;
    private final Options options;
    private final DiskWatch disk;
    private final FaultPoints faults;
    private final ChunkIndex index;

    /** Chunks that another node is being given. Guards that none of them goes that is put again. */
    private final Set<ChunkKey> leaving = new HashSet<>();

    /**
     * Older records of chunks that {@link Compaction} has copied, until they are dead: who deletes
     * such a chunk ends both. Guarded by indexLock.
     */
    private final Map<ChunkKey, ChunkLocation> originals = new HashMap<>();

    /** Held while a chunk's place in the index and its records on disk change together. */
    private final ReentrantLock indexLock = new ReentrantLock();

    private final GroupSync groupSync = new GroupSync();
    private final RecentDeletes recentDeletes = new RecentDeletes();
    private final SegmentFolder files;
    private final ChunkTable table;
    private final Checkpoints checkpoints;
    private final ChunkReader reader;
    private int lookedThrough;

    /** Guarded by indexLock. */
    private long renewNotBeforeNs = System.nanoTime();

    private volatile long misplaced;
    private volatile long missing;

    private SegmentStore(
            Path folder, Options options, Disk disk, FaultPoints faults, ChunkIndex index) {
        this.index = index;
        this.faults = faults;
        this.folder = folder;
        this.options = options;
        this.disk =
                new DiskWatch("storage node " + options.node, folder, disk, options.reservedBytes);
        files = new SegmentFolder(folder, options, this.disk, groupSync, faults);
        table = new ChunkTable(index, files, faults);
        checkpoints = new Checkpoints(index, files, groupSync, this.disk);
        reader = new ChunkReader(table, groupSync, indexLock, faults);
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
        files.appendLock.lock();
        try {
            indexLock.lock();
            try {
                checkpoints.take(originals.values());
            } finally {
                indexLock.unlock();
            }
        } finally {
            files.appendLock.unlock();
        }
        reached(Step.CHECKPOINT);
    }

    /** Now and then, by whoever has changed something. */
    private void checkpointIfDue() throws IOException {
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

    /** By whoever wants to change something, and now and then. Nothing else happens meanwhile. */
    private void renewIndexIfDue() throws IOException {
        if (!index.isBroken() || groupSync.failure() != null) {
            return;
        }
        files.appendLock.lock();
        try {
            indexLock.lock();
            try {
                if (index.isBroken()
                        && System.nanoTime() - renewNotBeforeNs >= 0
                        && hasRoomForIndex()) {
                    renewIndex(index.isUnreadable());
                }
            } finally {
                indexLock.unlock();
            }
        } finally {
            files.appendLock.unlock();
        }
    }

    /** A try that finds none would take what is left from others, each time. */
    private boolean hasRoomForIndex() throws IOException {
        long needed = ChunkIndex.CHECKPOINT_BYTES + table.chunks() * ChunkIndex.ROW_BYTES;
        return disk.look(0) + disk.reservedBytes() >= needed;
    }

    private void renewIndex(boolean fromSegments) throws IOException {
        try {
            index.renew(new SegmentRows(files, options));
            if (fromSegments) {
                table.recount();
                files.all().forEach(SegmentFile::unsummarized);
            }
            checkpoints.take(originals.values());
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
            renewIndexIfDue();
            if (isThere(key, data.remaining())) {
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
        checkpointIfDue();
        if (written.status() == ChunkStatus.OK && recentDeletes.contains(key)) {
            delete(List.of(key)); // the block's delete overtook this write
            return new Written(ChunkStatus.DELETED, 0);
        }
        return written;
    }

    private Written append(ChunkKey key, ChunkShape shape, @Nullable String home, ByteBuffer data)
            throws IOException {
        int[] pageCrcs = ChunkPages.checksums(data);
        int recordBytes = ChunkRecord.recordBytes(ChunkRecord.homeBytes(home), data.remaining());
        files.appendLock.lock();
        try {
            index.checkTakesChanges();
            boolean frees = table.corrupt().contains(key); // the damaged one goes
            SegmentFile segment = files.roomFor(recordBytes, frees);
            if (segment == null) {
                return new Written(ChunkStatus.NO_SPACE, 0);
            }
            ChunkLocation location =
                    new ChunkLocation(
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
            ChunkLocation old;
            synchronized (leaving) {
                old = table.replace(key, location);
                leaving.remove(key);
            }
            if (old != null) {
                ticket = endOrLeave(key, old, damaged, ticket);
            }
            table.corrupt().remove(key);
            return ticket;
        } catch (UncheckedIOException e) {
            unentered(location);
            throw e;
        } finally {
            indexLock.unlock();
        }
    }

    /** A record that the index does not name any more dies; returns the ticket of that. */
    private long end(ChunkKey key, ChunkLocation location) throws IOException {
        endOriginal(key);
        return files.kill(location, checkpoints.epoch());
    }

    /**
     * As {@link #end}. A record in a place that the disk cannot read cannot be ended, as the kernel
     * reads a page before it writes a part of it: it stays without a row, and who starts later and
     * can read it keeps the newer one, or finds a chunk that nothing refers to.
     *
     * @param damaged whether the record could not be read
     * @param ticket what is returned when it stays
     */
    private long endOrLeave(ChunkKey key, ChunkLocation location, boolean damaged, long ticket)
            throws IOException {
        try {
            return end(key, location);
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

    /** Index lock held. */
    private void endOriginal(ChunkKey key) throws IOException {
        ChunkLocation original = originals.get(key);
        if (original != null) {
            var _ = files.kill(original, checkpoints.epoch());
            originals.remove(key); // not before: if it lives on, it is still to be ended
        }
    }

    /**
     * As {@link #endOrLeave}, of a chunk whose row was just removed: it gets that back if its
     * record lives on, and would else be found by the next start only. Then it counts as damaged.
     */
    private long endRemoved(ChunkKey key, ChunkLocation location, boolean damaged)
            throws IOException {
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
            ChunkLocation old = table.location(key);
            boolean there =
                    old != null && old.dataBytes() == bytes && !table.corrupt().contains(key);
            if (there) {
                leaving.remove(key);
            }
            return there;
        }
    }

    /** Housekeeping; called now and then. */
    public void tick() throws IOException {
        recentDeletes.age();
        renewIndexIfDue();
        checkpointIfDue();
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
        return reader.read(key, offset, length, into);
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
    }

    public boolean has(ChunkKey key) {
        return table.location(key) != null && !table.corrupt().contains(key);
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
        ChunkLocation location;
        long ticket = 0;
        indexLock.lock();
        try {
            boolean damaged = table.corrupt().contains(key);
            synchronized (leaving) {
                location = leaving.remove(key) ? table.remove(key) : null;
            }
            if (location != null) {
                ticket = endRemoved(key, location, damaged);
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

    /** Disk space that a chunk takes. */
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
                    endRemoved(key, location, damaged);
                    killed.add(location);
                }
            } catch (UncheckedIOException e) {
                throw files.failed(e);
            } finally {
                indexLock.unlock();
            }
        }
        checkpointIfDue();
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
     */
    boolean copy(ChunkKey key, ChunkLocation from, ChunkRecord original, ByteBuffer data)
            throws IOException {
        files.appendLock.lock();
        try {
            index.checkTakesChanges();
            SegmentFile segment = files.roomFor(from.recordBytes(), true);
            if (segment == null) {
                return false;
            }
            indexLock.lock();
            try {
                if (!from.equals(table.location(key))) {
                    return true; // deleted, or written anew, meanwhile
                }
                ChunkRecord record = original.at(segment.number(), segment.tail());
                ChunkLocation to =
                        new ChunkLocation(
                                segment,
                                segment.tail(),
                                from.recordBytes(),
                                from.dataBytes(),
                                from.shape(),
                                from.home());
                files.append(record, data);
                groupSync.wrote(segment);
                relocate(key, to);
                originals.put(key, from); // not before: it dies once the chunk is elsewhere
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
            unentered(to);
            throw e;
        }
    }

    /** The index does not take a record: it is nobody's, and not to be found by a later start. */
    private void unentered(ChunkLocation location) throws IOException {
        var _ = files.kill(location, checkpoints.epoch());
    }

    /** The copies of these chunks are on disk: what they were copied from dies, durably. */
    void endOriginals(Collection<ChunkKey> keys) throws IOException {
        for (ChunkKey key : keys) {
            indexLock.lock();
            try {
                endOriginal(key);
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

    /** What it can hold, and its disk has left. */
    StorageRoom room() throws IOException {
        long used = files.usedBytes();
        long free = Math.max(0, disk.look(0));
        return new StorageRoom(
                Math.min(options.capacityBytes, used + free), used, Disk.identity(folder), free);
    }

    NodeStatistics statistics() throws IOException {
        return statistics(_ -> true);
    }

    /**
     * How full it is, and how well.
     *
     * @param awaited whether what is kept for a node is to go there
     */
    NodeStatistics statistics(Predicate<String> awaited) throws IOException {
        StorageRoom room = room();
        return new NodeStatistics(
                room.capacity(),
                room.used(),
                table.liveBytes(),
                table.chunks(),
                table.handoffChunks(awaited),
                table.corrupt().size(),
                files.count(),
                groupSync.failure() == null && !index.isBroken(),
                misplaced,
                missing);
    }

    private void lastCheckpoint() throws IOException {
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

    @Override
    public void close() throws IOException {
        try {
            if (groupSync.failure() == null && !index.isBroken()) {
                lastCheckpoint();
            }
        } finally {
            index.close();
            files.close();
        }
    }
}
