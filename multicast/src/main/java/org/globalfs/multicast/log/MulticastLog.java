package org.globalfs.multicast.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.globalfs.multicast.log.LogException.Reason;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.HeldFile;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of all rings of a process.
 *
 * <p>One writer thread calls {@link #append}, {@link #write} and {@link #sync}; any thread may
 * {@link #read}. Records are readable once written, durable once synced. A failed write or sync is
 * final: the writer gets a {@link LogException} and must not go on, because after a failed sync
 * nobody knows what is on disk.
 *
 * <p>Segments are dropped from the oldest on, when every instance in them is checkpointed by its
 * ring's state and enough newer log is left for peers that lag. Each segment starts with the newest
 * meta records of every ring, so that dropping older ones loses none.
 */
public final class MulticastLog implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(MulticastLog.class);
    private static final int FIRST_CAPACITY = 1 << 20;
    private static final int GROWTH = 4;
    private static final long LOOK_NS = TimeUnit.SECONDS.toNanos(1);
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);
    static final Payload NOTHING = to -> {};

    /** What a record holds. */
    public interface Payload {
        /** Writes it at the buffer's position; little-endian. */
        void writeTo(ByteBuffer to);
    }

    private final LogOptions options;
    private final FolderLock lock;
    private final SegmentPreparer preparer;
    private final RetiredSegments retired;
    private final RecordFormat format = new RecordFormat();
    private final RingMetas metas;
    private final LogSpace space;

    /** Oldest first; the last one is written to. Replaced, never changed. */
    private volatile Segment[] segments;

    // Writer only, from here on.
    private Segment active;
    private HeldFile held;
    private long lookedNs;
    private final SegmentWriter writer;
    private boolean nextWanted;
    private Map<Integer, Long> heldBackBy = Map.of();

    /** The oldest one when {@link #heldBackBy} was asked last. */
    private @Nullable Segment spokenOf;

    private final ArrayDeque<Unindexed> unindexed = new ArrayDeque<>();

    private record Unindexed(int ring, long instance, int place, int bytes) {}

    MulticastLog(
            LogOptions options,
            FolderLock lock,
            SegmentPreparer preparer,
            List<Segment> recovered,
            RingMetas metas) {
        this.options = options;
        this.lock = lock;
        this.preparer = preparer;
        this.retired = new RetiredSegments(preparer::recycle);
        this.metas = metas;
        this.space = new LogSpace(options);
        this.segments = recovered.toArray(Segment[]::new);
        try {
            this.active =
                    takeSegment(recovered.isEmpty() ? 1 : recovered.getLast().sequence() + 1, 0);
            this.held = HeldFile.of(active.file);
            this.lookedNs = System.nanoTime();
            this.writer = new SegmentWriter(active, options.durable());
            encodeMetas();
            force();
        } catch (IOException e) {
            throw failed("cannot start a segment in " + options.folder(), e);
        }
    }

    /**
     * Opens the log of a folder, handing every record still in it, oldest first, to the consumer.
     */
    public static MulticastLog open(LogOptions options, Consumer<StoredRecord> recovered) {
        return new LogRecovery(options).open(recovered);
    }

    /** Queues a record; it is neither readable nor durable yet. */
    public void append(int ring, int kind, long ballot, long instance, ByteBuffer payload) {
        append(
                ring,
                kind,
                ballot,
                instance,
                payload.remaining(),
                to -> to.put(payload.duplicate()));
        metas.note(ring, kind, ballot, instance, payload);
    }

    /** As {@link #append}, for a record of an instance: what it holds is written where it stays. */
    public void appendInstance(
            int ring, int kind, long ballot, long instance, int mostBytes, Payload payload) {
        Invariant.check(kind >= StoredRecord.FIRST_INSTANCE_KIND, "%s is no instance", kind);
        append(ring, kind, ballot, instance, mostBytes, payload);
        metas.note(ring, kind, ballot, instance, EMPTY);
    }

    private void append(
            int ring, int kind, long ballot, long instance, int mostBytes, Payload payload) {
        Invariant.check(ring >= 0 && ring <= 0xffff, "ring number %s out of range", ring);
        int most = RecordFormat.sizeOf(mostBytes);
        try {
            if (!active.fits(most)) {
                roll(most);
            }
            encode(ring, kind, ballot, instance, payload, most);
        } catch (IOException e) {
            throw failed("cannot write " + active.file, e);
        }
    }

    private void encode(
            int ring, int kind, long ballot, long instance, Payload payload, int mostBytes)
            throws IOException {
        ByteBuffer buffer = writer.room(mostBytes);
        int place = active.end;
        int before = buffer.position();
        int durable = writer.durable();
        format.encode(buffer, active.sequence(), durable, ring, kind, ballot, instance, payload);
        int bytes = buffer.position() - before;
        active.end += bytes;
        if (kind >= StoredRecord.FIRST_INSTANCE_KIND) {
            unindexed.add(new Unindexed(ring, instance, place, bytes));
        }
    }

    /** Makes what was appended readable. */
    public void write() {
        try {
            writer.write();
        } catch (IOException e) {
            throw failed("cannot write " + active.file, e);
        }
        written();
    }

    /** Makes what was appended durable. */
    public void sync() {
        try {
            force();
        } catch (IOException e) {
            throw failed("cannot sync " + active.file, e);
        }
    }

    private void force() throws IOException {
        lookForIt();
        writer.sync();
        written();
    }

    /** What is on disk in a file that nobody finds after a restart is not durable. */
    private void lookForIt() throws IOException {
        long nowNs = System.nanoTime();
        if (nowNs - lookedNs >= LOOK_NS) {
            lookedNs = nowNs;
            held.check();
        }
    }

    /** All that was appended is in the file. */
    private void written() {
        for (Unindexed u = unindexed.poll(); u != null; u = unindexed.poll()) {
            active.index.put(u.ring(), u.instance(), u.place(), u.bytes());
        }
        wantNextWhenUsed();
    }

    private void roll(int recordBytes) throws IOException {
        encode(0, StoredRecord.SEAL, 0, 0, NOTHING, RecordFormat.SEAL_BYTES);
        force();
        List<Segment> dropped = space.droppable(segments);
        for (Segment segment : dropped) {
            segment.index.highest().forEach(metas::trimmed);
        }
        active = takeSegment(active.sequence() + 1, recordBytes);
        held = HeldFile.of(active.file);
        writer.begin(active);
        encodeMetas();
        force();
        drop(dropped);
        heldBackBy = space.heldBackBy(segments);
    }

    /** The segment that becomes the active one, with room for the rings' metas and a record. */
    private Segment takeSegment(long sequence, int recordBytes) throws IOException {
        int metaBytes = metas.sizeBytes();
        int least = SegmentHeader.BYTES + metaBytes + recordBytes + RecordFormat.SEAL_BYTES;
        Segment next =
                preparer.take(sequence, least, Math.min(FIRST_CAPACITY, options.segmentBytes()));
        nextWanted = false;
        Segment[] longer = Arrays.copyOf(segments, segments.length + 1);
        longer[segments.length] = next;
        segments = longer;
        return next;
    }

    private void encodeMetas() throws IOException {
        for (StoredRecord meta : metas.all()) {
            encode(
                    meta.ring(),
                    meta.kind(),
                    meta.ballot(),
                    meta.instance(),
                    to -> to.put(meta.payload()),
                    RecordFormat.sizeOf(meta.payload().length));
        }
    }

    /** Not earlier: a process that starts, or idles, shall not fill the disk's queue with zeros. */
    private void wantNextWhenUsed() {
        if (!nextWanted && active.end > active.header.capacity() / 4) {
            nextWanted = true;
            long grown = (long) active.header.capacity() * GROWTH;
            preparer.want(active.sequence() + 1, (int) Math.min(grown, options.segmentBytes()));
        }
    }

    private void drop(List<Segment> dropped) {
        if (dropped.isEmpty()) {
            return;
        }
        Segment[] all = segments;
        segments = Arrays.copyOfRange(all, dropped.size(), all.length);
        dropped.forEach(retired::add);
    }

    /** The ring's state is durable through this instance without the log. Any thread. */
    public void checkpointed(int ring, long instance) {
        space.checkpointed(ring, instance);
    }

    /**
     * While true, nothing is kept for peers that lag, nor trimmed segments for later; from the next
     * segment on. Any thread.
     */
    public void keepShort(boolean value) {
        space.keepShort(value);
        preparer.keepSpares(!value);
    }

    // ---- rings that stand still, writer only

    /**
     * Rings whose records hold the oldest segment back, and with it all newer ones, though they
     * need little of the log; each with its newest instance in that segment. Once {@link #carry}
     * has copied what they need, and the writer has appended what they voted for, the segment may
     * be {@linkplain #dropCarried dropped}. Mostly none.
     */
    public Map<Integer, Long> heldBackBy() {
        spokenOf = segments[0];
        return heldBackBy;
    }

    /**
     * Appends again those newest records of a ring's instances that are in the oldest segment and
     * not checkpointed.
     *
     * @param through instances behind it are left out: not every record of an undecided one counts
     * @param mostBytes how much one call copies, about
     * @return whether there is nothing more to copy
     */
    public boolean carry(int ring, long through, int mostBytes) {
        Segment[] all = segments;
        Segment oldest = all[0];
        List<StoredRecord> records;
        try (LogReader reader = new LogReader(ring)) {
            long[] needed = oldest.index.newest(ring, space.checkpointed(ring) + 1, through, all);
            records = reader.read(all, needed, mostBytes);
            for (StoredRecord record : records) {
                append(
                        ring,
                        record.kind(),
                        record.ballot(),
                        record.instance(),
                        ByteBuffer.wrap(record.payload()));
            }
            if (!records.isEmpty()) {
                write();
            }
            return records.size() == needed.length;
        } catch (IOException e) {
            throw failed("cannot read the log in " + options.folder(), e);
        }
    }

    /**
     * Drops the segment that {@link #heldBackBy} spoke of last: what was needed of it has been
     * appended again. Nothing if appending began a segment, and dropped it by itself.
     */
    public void dropCarried() {
        Segment oldest = segments[0];
        if (oldest != spokenOf) {
            return;
        }
        oldest.index
                .highest()
                .forEach((ring, highest) -> {
                    long through = Math.min(highest, space.checkpointed(ring));
                    if (through > metas.droppedThrough(ring)) {
                        append(ring, StoredRecord.TRIMMED, 0, through, EMPTY);
                    }
                });
        if (oldest == segments[0]) { // else the appended records began a segment, and dropped it
            sync();
            drop(List.of(oldest));
        }
        heldBackBy = space.heldBackBy(segments);
    }

    /** First instance of the ring that may still be read. Any thread. */
    public long firstAvailable(int ring) {
        return metas.droppedThrough(ring) + 1;
    }

    /**
     * Newest records of consecutive instances. Any thread.
     *
     * @return records of {@code from}, {@code from + 1}, …, at most through {@code through} and
     *     about {@code maxBytes}; empty if there is none of {@code from}, or it is before {@link
     *     #firstAvailable}: what is left behind a checkpoint need not have been decided
     */
    public List<StoredRecord> read(int ring, long from, long through, int maxBytes) {
        if (from < firstAvailable(ring)) {
            return List.of();
        }
        try (LogReader reader = new LogReader(ring)) {
            return reader.read(() -> segments, from, through, maxBytes);
        } catch (IOException e) {
            throw failed("cannot read the log in " + options.folder(), e);
        }
    }

    private LogException failed(String what, IOException cause) {
        String space = "";
        try {
            long free = Files.getFileStore(options.folder()).getUsableSpace();
            space = " (" + (free >> 20) + " MiB free on that disk)";
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
        if (Disk.isFull(cause)) {
            space += ": the disk is full. " + Disk.FULL_REMEDY;
        }
        return new LogException(Reason.IO, what + space, cause);
    }

    /** For tests: files now part of the log. */
    int segmentCount() {
        return segments.length;
    }

    /** For tests: as readers get them. */
    Segment[] segments() {
        return segments;
    }

    @Override
    public void close() {
        @Nullable IOException first = null;
        try {
            force();
        } catch (IOException e) {
            first = e;
        }
        first = closing(first, writer::close);
        first = closing(first, preparer::close);
        for (Segment segment : segments) {
            first = closing(first, segment.channel::close);
        }
        first = closing(first, lock::close);
        if (first != null) {
            throw failed("cannot close the log in " + options.folder(), first);
        }
    }

    /** Gives everything up without writing, as a crash would. */
    public void abandon() {
        @Nullable IOException first = closing(null, writer::close);
        first = closing(first, preparer::close);
        for (Segment segment : segments) {
            first = closing(first, segment.channel::close);
        }
        first = closing(first, lock::close);
        if (first != null) {
            log.warn("closing the log in {}: {}", options.folder(), first.toString());
        }
    }

    private interface Closing {
        void close() throws IOException;
    }

    private static @Nullable IOException closing(@Nullable IOException first, Closing what) {
        try {
            what.close();
            return first;
        } catch (IOException e) {
            if (first == null) {
                return e;
            }
            first.addSuppressed(e);
            return first;
        }
    }
}
