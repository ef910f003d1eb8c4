package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskWatch;
import org.globalfs.protocol.OpenFiles;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segment files of a store: which of them takes appends, how much disk they take, when one
 * begins and when it goes. The chunks in them are {@link SegmentStore}'s.
 *
 * <p>What is said to need the append lock is called with {@link #appendLock} held; everything else
 * takes it.
 */
final class SegmentFolder {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentFolder.class);

    /** Records up to this size are written into prepared (zeroed) space when there is some. */
    private static final int SMALL_BYTES = 128 << 10;

    private static final int PREPARE_AHEAD = 1 << 20;
    private static final int PREPARE_STEP = 256 << 10;
    private static final int PREPARE_ROUNDS = 8;

    /** The segment that takes appends is not sealed for less garbage than this part of its size. */
    private static final int ACTIVE_GARBAGE_PART = 8;

    final ReentrantLock appendLock = new ReentrantLock();

    private final Path folder;
    private final SegmentStore.Options options;
    private final DiskWatch disk;
    private final GroupSync groupSync;
    private final FaultPoints faults;
    private final AtomicLong usedBytes = new AtomicLong();
    private final NavigableMap<Integer, SegmentFile> segments = new ConcurrentSkipListMap<>();
    private final DirectFiles directFiles;
    private final DirectAppends direct;
    private final SpareFile spare;
    private final ByteBuffer recordHeader = ByteBuffer.allocateDirect(ChunkRecord.MAX_HEADER_BYTES);
    private @Nullable SegmentFile active;
    private int nextSegment = 1;
    private boolean preparing;
    private volatile boolean closed;

    SegmentFolder(
            Path folder,
            SegmentStore.Options options,
            DiskWatch disk,
            GroupSync groupSync,
            FaultPoints faults) {
        this.folder = folder;
        this.options = options;
        this.disk = disk;
        this.groupSync = groupSync;
        this.faults = faults;
        this.directFiles = new DirectFiles(options.pastPageCache());
        this.direct = new DirectAppends(directFiles);
        this.spare = new SpareFile(folder);
        spare.take();
    }

    /** A segment that was found at the start, where nothing else runs; unsealed ones in order. */
    void found(SegmentFile segment) throws IOException {
        segments.put(segment.number(), segment);
        nextSegment = Math.max(nextSegment, segment.number() + 1);
        if (!segment.sealed()) {
            SegmentFile previous = active;
            if (previous != null) {
                previous.seal(options.cluster(), options.node());
            }
            active = segment;
        }
    }

    /** It takes so much, once all that was found dead in it is given back. */
    void counted(SegmentFile segment) {
        usedBytes.addAndGet(segment.usedBytes());
    }

    /** At the start. */
    void dropDeadSegments() throws IOException {
        for (SegmentFile segment : List.copyOf(segments.values())) {
            if (segment.sealed() && segment.whollyDead()) {
                drop(segment);
            }
        }
    }

    /**
     * Where a record goes.
     *
     * @param recordBytes distance to the next one
     */
    record Room(SegmentFile segment, int offset, int recordBytes) {}

    /**
     * Where a record of at least this size goes, in a segment begun if need be; null: no space.
     * Append lock held.
     *
     * @param frees it is a copy of one that goes then: may take the reserve, and more than the
     *     capacity meanwhile, so that a full node can be rid of its garbage
     */
    @Nullable Room roomFor(int leastBytes, boolean frees) throws IOException {
        if (closed) {
            throw new ClosedChannelException(); // the folder may be another's by now
        }
        int recordBytes = direct.mostBytes(leastBytes);
        if (!frees && usedBytes.get() + recordBytes > options.capacityBytes()) {
            return null;
        }
        SegmentFile segment = active;
        if (segment != null
                && (segment.isEnding() || segment.tail() + recordBytes > options.segmentBytes())) {
            sealActive(segment);
            segment = null;
        }
        int needed = SegmentFile.HEADER_BYTES + recordBytes;
        if (segment == null) {
            if (free(needed, frees) < needed) {
                return null;
            }
            segment = sparing(frees, this::createOnce);
            nextSegment++;
            usedBytes.addAndGet(segment.usedBytes());
            segments.put(segment.number(), segment);
            active = segment;
        }
        int offset = segment.tail();
        SegmentFile to = segment;
        return sparing(frees, () -> hasRoom(to, offset + recordBytes, frees))
                ? new Room(segment, offset, direct.recordBytes(leastBytes, offset))
                : null;
    }

    /** What needs a descriptor. */
    private interface Opens<T> {
        T run() throws IOException;
    }

    /**
     * @param frees others go once it is done, which may take the last descriptors
     */
    private <T> T sparing(boolean frees, Opens<T> opens) throws IOException {
        try {
            return opens.run();
        } catch (IOException e) {
            if (!frees || !OpenFiles.areUsedUp(e)) {
                throw e;
            }
            direct.close();
            var _ = spare.give();
            return opens.run();
        }
    }

    private SegmentFile createOnce() throws IOException {
        return SegmentFile.create(folder, nextSegment, options.cluster(), options.node(), faults);
    }

    private void sealActive(SegmentFile segment) throws IOException {
        try {
            direct.close();
            segment.seal(options.cluster(), options.node());
        } catch (IOException e) {
            throw failed(e);
        }
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
        int step =
                Math.min(
                        SegmentStore.Options.ALLOCATION_STEP,
                        options.segmentBytes() - segment.allocated());
        return free >= missing
                && segment.reserve(
                        end,
                        Math.clamp(
                                free / SegmentStore.Options.ALLOCATION_PART, 0, Math.max(step, 0)));
    }

    /** For what nobody reads again soon. */
    DirectReads directReads() {
        return new DirectReads(directFiles);
    }

    /** Writes a record where the active segment ends. Append lock held. */
    void append(ChunkRecord record, ByteBuffer data) throws IOException {
        SegmentFile segment = Objects.requireNonNull(active);
        recordHeader.clear();
        record.write(recordHeader);
        segment.append(recordHeader.flip(), data, record.recordBytes(), direct);
        usedBytes.addAndGet(record.recordBytes());
    }

    /**
     * Has space for small records written with zeros ahead, in the background. Append lock held.
     */
    void prepareIfUseful(SegmentFile segment, int recordBytes) {
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
                    if (closed || segment.sealed() || segment.isEnding()) {
                        return;
                    }
                    int ahead = segment.prepared() + PREPARE_STEP;
                    if (ahead > options.segmentBytes() || !hasRoom(segment, ahead, false)) {
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
            var _ = failed(e); // a full disk is told of by who has a chunk to write
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

    /** A record dies in that epoch; returns the ticket of that. */
    long kill(ChunkLocation location, long epoch) throws IOException {
        return kill(location.segment(), location.offset(), location.recordBytes(), epoch);
    }

    /** As {@link #kill(ChunkLocation, long)}, wherever no chunk is. */
    long kill(SegmentFile segment, int offset, int length, long epoch) throws IOException {
        stamp(segment, epoch);
        segment.kill(offset, length);
        return groupSync.wrote(segment);
    }

    /** See {@link SegmentFile#stamp(long)}. */
    void stamp(SegmentFile segment, long epoch) throws IOException {
        try {
            segment.stamp(epoch);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    /**
     * A disk that fails, or an index that cannot be read, takes no more writes, and gets none. One
     * that is full does again once there is room, without a restart, one whose process has too many
     * files open once it has fewer, and an index that refuses changes once it is written anew.
     */
    IOException failed(Exception e) {
        IOException failure =
                switch (e) {
                    case IOException io -> io;
                    case UncheckedIOException unchecked ->
                            Objects.requireNonNull(unchecked.getCause());
                    default -> new IOException(e.getMessage(), e);
                };
        if (!Disk.isFull(failure)
                && !OpenFiles.areUsedUp(failure)
                && !ChunkIndex.isRefusal(e)
                && !(closed && e instanceof ClosedChannelException)) {
            fail(failure, e);
        }
        return failure;
    }

    /**
     * Ends writes if the segment that takes appends is not where a start would look for it; called
     * now and then.
     */
    void checkThere() {
        appendLock.lock();
        try {
            SegmentFile segment = active;
            if (segment != null && !closed && !hasFailed()) {
                segment.checkThere();
            }
        } catch (IOException e) {
            var _ = failed(e);
        } finally {
            appendLock.unlock();
        }
    }

    boolean hasFailed() {
        return groupSync.failure() != null;
    }

    private void fail(IOException failure, Exception seen) {
        if (groupSync.fail(failure)) {
            LOG.error(
                    "{}: disk or index failed, no more writes until the process is started again",
                    folder,
                    seen);
        }
    }

    /**
     * Gives the space of dead records back.
     *
     * @param synced only where their end is on disk
     */
    void reclaim(List<ChunkLocation> killed, boolean synced) throws IOException {
        for (ChunkLocation location : killed) {
            if (location.segment().sealed() && location.segment().whollyDead()) {
                appendLock.lock();
                try {
                    drop(location.segment());
                } finally {
                    appendLock.unlock();
                }
            } else {
                usedBytes.addAndGet(-location.segment().punchAround(location.offset(), synced));
            }
        }
    }

    /** Append lock held. */
    private void drop(SegmentFile segment) throws IOException {
        try {
            // A power failure may undo the removal: nothing in the file may be live then.
            if (!segment.areDeathsSynced()) {
                segment.sync();
            }
            remove(segment);
        } catch (IOException e) {
            throw failed(e);
        }
    }

    private void remove(SegmentFile segment) throws IOException {
        groupSync.forget(segment);
        segments.remove(segment.number());
        long used = segment.usedBytes();
        if (segment.remove()) {
            if (!closed) {
                spare.take();
            }
            usedBytes.addAndGet(-used);
            LOG.debug("{} removed, all its chunks are deleted", segment.path());
        }
    }

    /** What was known of a segment when it was looked at: deletes go on while they are sorted. */
    private record Candidate(SegmentFile segment, boolean wasteful, boolean sparse, long live) {
        static final Comparator<Candidate> LEAST_LIVE = Comparator.comparingLong(Candidate::live);
        static final Comparator<Candidate> WASTEFUL_FIRST =
                Comparator.comparing(Candidate::wasteful).reversed().thenComparing(LEAST_LIVE);

        static Candidate of(SegmentFile segment) {
            return new Candidate(
                    segment, segment.isWasteful(), segment.isSparse(), segment.liveBytes());
        }
    }

    /**
     * Sealed segments that {@link Compaction} should empty: those first that give the disk
     * something back, and of these, as of the others, those with least to copy.
     *
     * @param leastFirst those with least to copy come first of all: without a descriptor left there
     *     is only the rest of the newest one to copy to, and each that goes gives one back
     */
    List<SegmentFile> wasteful(boolean leastFirst) throws IOException {
        appendLock.lock();
        try {
            SegmentFile last = active;
            if (last != null
                    && last.isWasteful()
                    && last.garbageBytes() >= options.segmentBytes() / ACTIVE_GARBAGE_PART) {
                sealActive(last);
            }
            return segments.values().stream()
                    .filter(SegmentFile::sealed)
                    .map(Candidate::of)
                    .filter(candidate -> candidate.wasteful || candidate.sparse)
                    .sorted(leastFirst ? Candidate.LEAST_LIVE : Candidate.WASTEFUL_FIRST)
                    .map(Candidate::segment)
                    .toList();
        } finally {
            appendLock.unlock();
        }
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

    /** Null: it is gone. */
    @Nullable SegmentFile segment(int number) {
        return segments.get(number);
    }

    /** All there are, in order. */
    List<SegmentFile> all() {
        return List.copyOf(segments.values());
    }

    /** Whatever is appended from now on goes into this one, or a later one. Append lock held. */
    int appendsFrom() {
        SegmentFile segment = active;
        return segment == null ? nextSegment : segment.number();
    }

    /** How many files there are. */
    int count() {
        appendLock.lock();
        try {
            return segments.size();
        } finally {
            appendLock.unlock();
        }
    }

    /** What they take of the disk. */
    long usedBytes() {
        return usedBytes.get();
    }

    /** Syncs, unless the disk failed before, and closes all. */
    void close() throws IOException {
        appendLock.lock();
        try {
            closed = true;
            try {
                if (groupSync.failure() == null) {
                    syncAll();
                }
            } finally {
                closeAll();
            }
        } finally {
            appendLock.unlock();
        }
    }

    private void syncAll() throws IOException {
        for (SegmentFile segment : segments.values()) {
            segment.sync();
        }
    }

    private void closeAll() throws IOException {
        try (direct;
                spare) {
            for (SegmentFile segment : segments.values()) {
                segment.close();
            }
        }
    }
}
