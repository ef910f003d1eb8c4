package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;
import org.globalfs.datastore.node.DeadRuns.Run;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.protocol.DirectIo;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.HeldFile;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;

/**
 * One segment: a file header, then records one behind the other, then zeros.
 *
 * <p>Appends are serialized by the store, so that a record is never on disk behind a hole that an
 * unfinished write left. Dead records that lie next to each other become one dead run, whose header
 * stands where the first one's stood.
 *
 * <p>The kernel tells of pages that it could not write once, to whoever syncs next, and drops them:
 * a sync that failed fails all later ones, and one that runs meanwhile waits for its outcome.
 */
final class SegmentFile {
    /** Room for the file header; records begin here. */
    static final int HEADER_BYTES = 4096;

    /** In the header's room: see {@link #stamp}. */
    private static final int STAMP_AT = 2048;

    private static final int STAMP_BYTES = 12;

    /** Of a disk, or several of them. */
    static final int BLOCK_BYTES = 4096;

    /**
     * A dead run's space is given back in pieces of at least this: each piece costs the disk a
     * journal entry.
     */
    private static final int PUNCH_BYTES = 32 << 10;

    /** More than this part of what it takes being garbage is wasteful. */
    private static final int WASTEFUL_PART = 4;

    /** Less than this part of what was written being live is sparse. */
    private static final int SPARSE_PART = 2;

    private final int number;
    private final Path path;
    private final FileChannel channel;
    private final HeldFile held;
    private final @Nullable NativeFile nativeFile;
    private final FaultPoints faults;

    /** Where the next record goes. Written under the store's append lock. */
    private volatile int tail;

    private volatile boolean sealed;
    private volatile boolean removed;

    /**
     * The path may be another file's by now. Guarded by the segment's monitor, which is held while
     * the file is opened by it.
     */
    private boolean closed;

    /** See {@link #isEnding}. */
    private volatile boolean ending;

    /** Held while the file is synced; never wait for the segment's monitor with it. */
    private final ReentrantLock syncLock = new ReentrantLock();

    /** Why what was written may be lost. Guarded by syncLock. */
    private @Nullable IOException syncFailure;

    /** Space is reserved up to here; under the append lock. */
    private int allocated;

    /** Zeros were written up to here; under the append lock. */
    private int prepared;

    private final DeadRuns dead = new DeadRuns();

    /** Found at the start: belongs to no record. */
    private long damagedBytes;

    /** Deaths written. */
    private long deaths;

    /** Of these, those on disk. Less than 0: it was not synced since it was opened. */
    private long syncedDeaths = -1;

    /** Of the index, when something in here died last. */
    private long stamp;

    /** Dead runs are not as they were last noted in the index. */
    private boolean changed = true;

    private SegmentFile(
            int number,
            Path path,
            FileChannel channel,
            @Nullable NativeFile nativeFile,
            int tail,
            boolean sealed,
            FaultPoints faults)
            throws IOException {
        this.faults = faults;
        this.number = number;
        this.path = path;
        this.held = HeldFile.of(path);
        this.channel = channel;
        this.nativeFile = nativeFile;
        this.tail = tail;
        this.sealed = sealed;
        this.allocated = tail;
        this.prepared = tail;
    }

    static String fileName(int number) {
        return String.format("segment-%010d.chunks", number);
    }

    static SegmentFile create(
            Path folder, int number, String cluster, String node, FaultPoints faults)
            throws IOException {
        Path path = folder.resolve(fileName(number));
        faults.opening(path);
        FileChannel channel =
                FileChannel.open(
                        path,
                        StandardOpenOption.CREATE_NEW,
                        StandardOpenOption.READ,
                        StandardOpenOption.WRITE);
        try {
            faults.reached(Step.SEGMENT_BORN, path);
            ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
            SegmentHeader.open(number, cluster, node).write(header);
            writeFully(channel, header.clear(), 0);
            channel.force(true);
            Folders.sync(folder);
            faults.reached(Step.SEGMENT_CREATED, path);
            return new SegmentFile(
                    number, path, channel, NativeFile.of(path), HEADER_BYTES, false, faults);
        } catch (IOException | RuntimeException e) {
            channel.close();
            Files.deleteIfExists(path);
            throw e;
        }
    }

    /** Opens an existing file; the scan that follows finds its tail. */
    static SegmentFile open(
            Path path,
            int number,
            FileChannel channel,
            SegmentScan.Found found,
            boolean sealed,
            FaultPoints faults)
            throws IOException {
        SegmentFile file =
                new SegmentFile(
                        number, path, channel, NativeFile.of(path), found.tail(), sealed, faults);
        file.damagedBytes = found.damagedBytes();
        return file;
    }

    int number() {
        return number;
    }

    Path path() {
        return path;
    }

    /** What was written stays only in a file that a start finds. */
    void checkThere() throws IOException {
        held.check();
    }

    int tail() {
        return tail;
    }

    boolean sealed() {
        return sealed;
    }

    /**
     * The header may say already where the segment ends, and a start would find nothing behind
     * that: it takes no more appends, and is to be sealed again.
     */
    boolean isEnding() {
        return ending && !sealed;
    }

    /** Reserves space for everything below `end`, in steps; false: the disk is full. */
    synchronized boolean reserve(int end, int step) throws IOException {
        checkOpen();
        if (end <= allocated) {
            return true;
        }
        if (nativeFile == null) {
            return true;
        }
        int to = Math.max(end, allocated + step);
        NativeFile.Outcome outcome = nativeFile.allocate(allocated, to - allocated);
        if (outcome == NativeFile.Outcome.NO_SPACE && to > end) {
            to = end;
            outcome = nativeFile.allocate(allocated, to - allocated);
        }
        if (outcome == NativeFile.Outcome.NO_SPACE) {
            return false;
        }
        allocated = to;
        return true;
    }

    private synchronized void checkOpen() throws ClosedChannelException {
        if (closed) {
            throw new ClosedChannelException();
        }
    }

    int allocated() {
        return allocated;
    }

    int prepared() {
        return Math.max(prepared, tail);
    }

    /**
     * Writes zeros beyond the tail: overwriting written blocks syncs twice as fast as filling
     * reserved ones. Under the append lock.
     */
    void prepare(ByteBuffer zeros) throws IOException {
        int from = prepared();
        int length = Math.min(zeros.remaining(), allocated - from);
        if (length > 0) {
            faults.preparing(path);
            writeFully(channel, zeros.slice(zeros.position(), length), from);
            prepared = from + length;
        }
    }

    /** Writes a record at the tail and moves the tail behind it. Under the append lock. */
    void append(ByteBuffer header, ByteBuffer data, int recordBytes, DirectAppends direct)
            throws IOException {
        checkOpen();
        Invariant.check(!sealed, "append to sealed segment %d", number);
        if (ending) {
            throw new IOException(path + " could not be sealed, and takes no more records");
        }
        int at = tail;
        int headerBytes = header.remaining();
        if (!direct.write(this, header, data, recordBytes)) {
            writeFully(header, at);
            begun();
            writeFully(data, at + headerBytes);
        }
        tail = at + recordBytes;
        faults.reached(Step.RECORD_WRITTEN, path);
    }

    /** A record's header stands in the file, not all of its chunk does. */
    void begun() {
        faults.reached(Step.RECORD_BEGUN, path);
    }

    /** Through the page cache. */
    void writeFully(ByteBuffer bytes, long offset) throws IOException {
        writeFully(channel, bytes, offset);
    }

    /** It is about to be written or read past the page cache. */
    void goesDirect() throws IOException {
        faults.goingDirect(path);
    }

    /**
     * Opens it once more, past the page cache.
     *
     * @throws UnsupportedOperationException its file system has larger blocks, or this Java no such
     *     way
     * @throws IOException its file system does not take it, or for any other reason
     */
    synchronized FileChannel openDirect(OpenOption mode) throws IOException {
        checkOpen();
        OpenOption direct =
                DirectIo.option()
                        .orElseThrow(() -> new UnsupportedOperationException("no such option"));
        long diskBlockBytes = Files.getFileStore(path).getBlockSize();
        if (BLOCK_BYTES % diskBlockBytes != 0) {
            throw new UnsupportedOperationException("blocks of " + diskBlockBytes + " bytes");
        }
        return FileChannel.open(path, mode, direct);
    }

    /** Fills `into` from `offset` on, as far as the file goes. */
    void read(ByteBuffer into, long offset) throws IOException {
        long at = offset;
        while (into.hasRemaining()) {
            int n = channel.read(into, at);
            if (n < 0) {
                return;
            }
            at += n;
        }
    }

    /** A range is to be {@link #transfer transferred}. */
    void willTransfer(long from, int bytes) {
        if (nativeFile != null) {
            nativeFile.willNeed(from, bytes);
        }
    }

    /** Sends at most so many bytes from there on; 0: the file ends before. */
    long transfer(long from, int bytes, WritableByteChannel to) throws IOException {
        return channel.transferTo(from, bytes, to);
    }

    void sync() throws IOException {
        long through;
        synchronized (this) {
            through = deaths;
        }
        try {
            force(false);
            noteSynced(through);
            faults.reached(Step.SYNCED, path);
        } catch (ClosedChannelException e) {
            if (!removed) {
                throw e;
            }
        }
    }

    /** All syncs of the file. */
    private void force(boolean metadata) throws IOException {
        syncLock.lock();
        try {
            if (syncFailure != null) {
                throw new IOException(syncFailure.getMessage(), syncFailure);
            }
            forceOnce(metadata);
        } finally {
            syncLock.unlock();
        }
    }

    private void forceOnce(boolean metadata) throws IOException {
        try {
            faults.syncing(path);
            channel.force(metadata);
        } catch (ClosedChannelException e) {
            throw e; // says nothing of the disk, and no later sync succeeds
        } catch (IOException e) {
            throw syncFailed(e);
        } catch (RuntimeException | Error e) {
            syncFailed(e);
            throw e;
        }
    }

    /** Not with the cause's message: what is said of a full disk does not hold, data is lost. */
    private IOException syncFailed(Throwable cause) {
        IOException failure =
                new IOException(path + ": a sync failed, what was written may be lost", cause);
        syncFailure = failure;
        return failure;
    }

    /** Whether whatever is dead in it is so on disk. */
    synchronized boolean areDeathsSynced() {
        return syncedDeaths == deaths;
    }

    private synchronized void noteSynced(long through) {
        syncedDeaths = Math.max(syncedDeaths, through);
        dead.synced(through);
    }

    /**
     * No more appends; everything written is on disk. May be tried again. Under the append lock.
     */
    void seal(String cluster, String node) throws IOException {
        channel.truncate(tail);
        allocated = tail;
        prepared = tail;
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        new SegmentHeader(number, cluster, node, tail).write(header);
        force(true);
        ending = true;
        faults.reached(Step.SEGMENT_CUT, path);
        writeFully(channel, header.clear(), 0);
        force(true);
        faults.reached(Step.SEGMENT_SEALED, path);
        sealed = true;
    }

    /**
     * Opens a sealed file that is as the index says.
     *
     * @param summary of {@link #summary}
     */
    static SegmentFile open(
            Path path,
            SegmentHeader header,
            FileChannel channel,
            byte[] summary,
            FaultPoints faults)
            throws IOException {
        SegmentFile file =
                new SegmentFile(
                        header.number(),
                        path,
                        channel,
                        NativeFile.of(path),
                        header.sealedTail(),
                        true,
                        faults);
        file.changed = false;
        ByteBuffer from = ByteBuffer.wrap(summary);
        file.damagedBytes = from.getLong();
        while (from.hasRemaining()) {
            file.foundDead(from.getInt(), from.getInt());
        }
        return file;
    }

    /** Its damaged bytes and dead runs; null: the index has them as they are. */
    synchronized byte @Nullable [] summary() {
        if (!changed) {
            return null;
        }
        ByteBuffer to = ByteBuffer.allocate(8 + 8 * dead.count()).putLong(damagedBytes);
        dead.forEach(run -> to.putInt(run.offset()).putInt(run.length()));
        return to.array();
    }

    /** The index has what {@link #summary} returned; its lock was held since: nothing has died. */
    synchronized void summarized() {
        changed = false;
    }

    /** The index has been made anew, and has nothing of it. */
    synchronized void unsummarized() {
        changed = true;
    }

    /** Of the header's room; what cannot be read is as new as can be. */
    static long stamp(ByteBuffer header) {
        ByteBuffer stamp = header.slice(STAMP_AT, STAMP_BYTES);
        long epoch = stamp.getLong();
        boolean blank = epoch == 0 && stamp.getInt(8) == 0;
        return blank ? 0 : stamp.getInt(8) == crc(epoch) ? epoch : Long.MAX_VALUE;
    }

    private static int crc(long epoch) {
        CRC32C crc = new CRC32C();
        crc.update(ByteBuffer.allocate(8).putLong(epoch).flip());
        return (int) crc.getValue();
    }

    /** Writes the header of a file that a start always looks through until it is stamped again. */
    static void writeUntrusted(FileChannel channel, SegmentHeader header) throws IOException {
        ByteBuffer whole = ByteBuffer.allocate(HEADER_BYTES);
        header.write(whole);
        whole.putLong(STAMP_AT, Long.MAX_VALUE);
        whole.putInt(STAMP_AT + Long.BYTES, crc(Long.MAX_VALUE));
        writeFully(channel, whole.clear(), 0);
        channel.force(false);
    }

    /**
     * Something in here is about to die, in this epoch of the index: written, and on disk, before
     * the first such death is. A start that finds an older index looks through the records. Never
     * takes back a later one: who saw the epoch may come when it has passed, and others have died.
     */
    synchronized void stamp(long epoch) throws IOException {
        if (epoch <= stamp || removed) {
            return;
        }
        ByteBuffer bytes = ByteBuffer.allocate(STAMP_BYTES).putLong(epoch).putInt(crc(epoch));
        writeFully(channel, bytes.flip(), STAMP_AT);
        faults.reached(Step.SEGMENT_STAMPED, path);
        sync();
        stamp = epoch;
    }

    /** Takes over a dead run that a scan found. */
    synchronized void foundDead(int offset, int length) {
        dead.put(new Run(offset, length, 0));
    }

    /**
     * Gives the space of found dead runs back: a crash may have come before that. Their headers are
     * on disk.
     */
    synchronized void punchFound() throws IOException {
        if (closed || nativeFile == null) {
            return;
        }
        List<Run> found = new ArrayList<>();
        dead.forEach(found::add);
        for (Run run : found) {
            int whole = punchable(run);
            if (whole >= PUNCH_BYTES
                    && nativeFile.punch(punchFrom(run), whole) == NativeFile.Outcome.DONE) {
                dead.punched(run, whole);
                faults.reached(Step.HOLE_PUNCHED, path);
            }
        }
    }

    /** Marks a record dead on disk (not yet synced), joined with dead neighbours. */
    synchronized void kill(int offset, int length) throws IOException {
        if (removed || dead.covers(offset)) {
            return; // dead already: counted twice, it would stand for one that lives
        }
        // Put once the header stands there: what could not be killed lives on.
        Run run = dead.joined(offset, length);
        ByteBuffer header = ByteBuffer.allocate(ChunkRecord.FIXED_BYTES);
        ChunkRecord.dead(run.length(), number, run.offset()).write(header);
        faults.ending(path, run.offset());
        writeFully(channel, header.flip(), run.offset());
        deaths++;
        changed = true;
        dead.put(run, deaths);
        faults.reached(Step.RECORD_DEAD, path);
    }

    /**
     * Gives the space of the dead run around `offset` back, as far as whole disk blocks are dead.
     * Returns the bytes given back: none while the run's header is not on disk, since a start after
     * a power failure would meet the hole instead of a record. Who wrote it asks again.
     *
     * @param syncedOnly false: such a loss does not matter
     */
    synchronized int punchAround(int offset, boolean syncedOnly) throws IOException {
        Run run = dead.floor(offset);
        if (removed
                || closed
                || run == null
                || nativeFile == null
                || syncedOnly && !dead.isSynced(run)) {
            return 0;
        }
        int whole = punchable(run);
        int gain = whole - run.punched();
        if (gain < PUNCH_BYTES
                || nativeFile.punch(punchFrom(run), whole) != NativeFile.Outcome.DONE) {
            return 0;
        }
        dead.punched(run, whole);
        faults.reached(Step.HOLE_PUNCHED, path);
        return gain;
    }

    /** The first whole block behind the run's header. */
    private static int punchFrom(Run run) {
        int behind = run.offset() + ChunkRecord.FIXED_BYTES;
        return (behind + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    }

    /** Bytes of whole blocks within a run, its header kept. */
    private static int punchable(Run run) {
        int to = (run.offset() + run.length()) / BLOCK_BYTES * BLOCK_BYTES;
        return Math.max(0, to - punchFrom(run));
    }

    synchronized boolean whollyDead() {
        return dead.bytes() >= tail - HEADER_BYTES;
    }

    /** Nothing in it is live; what is damaged is none. */
    synchronized boolean isEmptied() {
        return !removed && sealed && dead.bytes() + damagedBytes >= tail - HEADER_BYTES;
    }

    /** Bytes of no live record that the disk has not got back. */
    synchronized long garbageBytes() {
        return removed ? 0 : dead.bytes() + damagedBytes - dead.punchedBytes();
    }

    /** Bytes of live records. */
    synchronized long liveBytes() {
        return removed ? 0 : tail - HEADER_BYTES - dead.bytes() - damagedBytes;
    }

    /** Whether it pays for the disk to write what lives in it anew. */
    synchronized boolean isWasteful() {
        return garbageBytes() * WASTEFUL_PART > usedBytes() && !isMuchDamaged();
    }

    /**
     * Whether it pays to write what lives in it anew though the disk has got the rest back: the
     * file is open. No more is written for that than was deleted.
     */
    synchronized boolean isSparse() {
        return !removed && liveBytes() * SPARSE_PART < tail - HEADER_BYTES && !isMuchDamaged();
    }

    /** No crash's doing: such a file stays, for whoever may know a way to read it. */
    private boolean isMuchDamaged() {
        return damagedBytes * WASTEFUL_PART > tail;
    }

    /**
     * Reads its record headers as a start does. Append lock held, and the store's index lock: no
     * record is written, and none dies.
     */
    SegmentScan.Found look(String cluster, String node, ByteBuffer window) throws IOException {
        SegmentHeader header = new SegmentHeader(number, cluster, node, tail);
        return SegmentScan.scanAtStart(path, channel, header, tail, window, faults);
    }

    /** Reads its record headers; none if the file is gone. Sealed only. */
    List<ChunkRecord> records(String cluster, String node) throws IOException {
        SegmentHeader header = new SegmentHeader(number, cluster, node, tail);
        try {
            return SegmentScan.scan(path, channel, header, SegmentScan.newWindow()).records();
        } catch (ClosedChannelException e) {
            if (!removed) {
                throw e;
            }
            return List.of();
        }
    }

    boolean isRemoved() {
        return removed;
    }

    synchronized long usedBytes() {
        return removed ? 0 : tail - dead.punchedBytes();
    }

    /** Removes the file. Only when wholly dead and sealed. */
    synchronized boolean remove() throws IOException {
        if (removed) {
            return false;
        }
        removed = true;
        close();
        Files.deleteIfExists(path);
        faults.reached(Step.SEGMENT_REMOVED, path);
        return true;
    }

    synchronized void close() throws IOException {
        closed = true;
        channel.close();
    }

    /** Drops what lies beyond the tail, so that a later scan meets zeros there. */
    void cutTail(int newTail) throws IOException {
        tail = newTail;
        channel.truncate(newTail);
        allocated = newTail;
        prepared = newTail;
    }

    private static void writeFully(FileChannel channel, ByteBuffer bytes, long offset)
            throws IOException {
        long at = offset;
        while (bytes.hasRemaining()) {
            at += channel.write(bytes, at);
        }
    }
}
