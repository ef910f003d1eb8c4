package org.globalfs.client.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.globalfs.client.meta.Answer;
import org.globalfs.client.meta.Patience;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.Extent;
import org.globalfs.protocol.wire.SetAttributesOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One file's content as this client sees it: what the replicas hold, under what is being committed,
 * under what was written since.
 *
 * <p>Shared by all handles of the file. At most one {@link Pending} collects writes
 * (<i>current</i>) and one is being committed (<i>committing</i>): commands of one file leave in
 * the order of its writes. Everything that was pending goes into one command, so no other client
 * ever sees a later write without an earlier one. A commit that fails loses its data and counts as
 * one error, which every handle that was open reports once, at its next write, fsync or close.
 *
 * <p>The lock is never held while waiting for the network; committing and reading work on what they
 * took out under it. A read first takes what is pending and only then asks for the committed map,
 * so a commit in between is seen in at least one of them.
 */
public final class FileContent {

    private static final Logger LOG = LoggerFactory.getLogger(FileContent.class);
    private static final Credentials NOBODY = new Credentials(0, 0);
    private static final int READ_ATTEMPTS = 8;
    private static final int MAX_PIECES = 2_000;
    private static final long CERTAINTY_NS = 1_000_000_000L;

    private static final int IDLE = 0;
    private static final int FLUSHING = 1;
    private static final int ASKED = 2;

    private final long ino;
    private final WriteBack writeBack;
    private final Backing backing;

    /** Fair: who puts the file in order takes it again and again while others wait to write. */
    private final ReentrantLock lock = new ReentrantLock(true);

    private final Condition committed = lock.newCondition();

    /** What {@link #flushSoon} was asked for: one thread a file does it, however often that is. */
    private final AtomicInteger flushes = new AtomicInteger(IDLE);

    private @Nullable Pending current;
    private @Nullable Pending committing;

    /** How many appends were taken. */
    private long appended;

    /** What this client's last commit of pending changes was answered; null: there was none. */
    private @Nullable Attributes made;

    /** The newest version of the inode that attributes were told of. */
    private long seenVersion;

    /** Where an appending {@code current} or {@code committing} is believed to begin. */
    private long appendAt;

    private long errors;
    private Errno lastError = Errno.EIO;

    FileContent(long ino, WriteBack writeBack, Backing backing) {
        this.ino = ino;
        this.writeBack = writeBack;
        this.backing = backing;
    }

    public long ino() {
        return ino;
    }

    /**
     * How many commits have failed so far: a handle reports those after the number that it has
     * seen.
     */
    public long errors() {
        lock.lock();
        try {
            return errors;
        } finally {
            lock.unlock();
        }
    }

    public Errno lastError() {
        lock.lock();
        try {
            return lastError;
        } finally {
            lock.unlock();
        }
    }

    public boolean hasPending() {
        lock.lock();
        try {
            return committing != null || current != null;
        } finally {
            lock.unlock();
        }
    }

    /** Whether something of {@link #writePages} is pending. */
    public boolean hasPendingPages() {
        lock.lock();
        try {
            return (current != null && current.hasPages)
                    || (committing != null && committing.hasPages);
        } finally {
            lock.unlock();
        }
    }

    /** Whether something is pending that goes to the end of the file. */
    public boolean appends() {
        lock.lock();
        try {
            return (current != null && current.append())
                    || (committing != null && committing.append());
        } finally {
            lock.unlock();
        }
    }

    /**
     * So many writes to the end of the file were taken; each shows in what is read from then on.
     */
    public long appended() {
        lock.lock();
        try {
            return appended;
        } finally {
            lock.unlock();
        }
    }

    long pendingForNs(long nowNs) {
        lock.lock();
        try {
            return current == null ? 0 : nowNs - current.sinceNs();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Takes all of {@code content}. With {@code append} it goes to the end of the file, wherever
     * that is when it is committed; {@code offset} then is where the caller believes that to be.
     */
    public void write(
            long offset,
            ByteBuffer content,
            boolean append,
            Credentials credentials,
            Patience patience)
            throws ContentException {
        write(offset, content, append, false, credentials, patience);
    }

    /**
     * As {@link #write}, of pages that the kernel writes back whole: with bytes that no program
     * wrote here, and which another client may be changing.
     */
    public void writePages(
            long offset, ByteBuffer content, Credentials credentials, Patience patience)
            throws ContentException {
        write(offset, content, false, true, credentials, patience);
    }

    private void write(
            long offset,
            ByteBuffer content,
            boolean append,
            boolean pages,
            Credentials credentials,
            Patience patience)
            throws ContentException {
        long memory = (long) content.remaining() + WriteBuffer.BESIDES_BYTES;
        int home = backing.home(ino);
        if (!writeBack.budget().take(home, memory, patience)) {
            throw new ContentException(
                    Errno.EIO, "write buffers stay full: commits do not come through");
        }
        boolean full;
        boolean overfull;
        lock.lock();
        try {
            Pending target = writable(append, credentials, patience);
            if (target == null) {
                writeBack.budget().release(home, memory);
                throw new ContentException(
                        Errno.EIO, "what was written before is not committed in time");
            }
            if (append && !target.hasData()) {
                appendAt = offset;
            }
            appended += append ? 1 : 0;
            target.reserved(home, memory);
            target.hasPages |= pages;
            target.write(
                    append ? target.pieces().end() : offset,
                    content,
                    buffer -> writeBack.store(ino, buffer));
            writeBack.dirty(this);
            long limit = writeBack.options().flushBytes();
            full = target.bufferedBytes() >= limit || target.pieces().count() >= MAX_PIECES;
            overfull =
                    target.bufferedBytes() >= 2 * limit
                            || target.pieces().count() >= 2 * MAX_PIECES;
        } finally {
            lock.unlock();
        }
        if (overfull || writeBack.options().sync()) {
            flush();
        } else if (full) {
            flushSoon();
        }
    }

    /**
     * The pending change that a write can join; others are committed before. Lock held. Null: the
     * caller was answered meanwhile, and others may have written since by that answer.
     */
    private @Nullable Pending writable(boolean append, Credentials credentials, Patience patience) {
        while (!patience.over()) {
            if (current != null) {
                if (current.takesWrite(append, credentials)) {
                    return current;
                }
                drain();
            } else if (append && committing != null) {
                // Where its end will be is known only then.
                committed.awaitUninterruptibly();
            } else {
                current = new Pending(append, credentials);
                return current;
            }
        }
        return null;
    }

    /** Commits in the background what is pending. */
    void flushSoon() {
        if (flushes.getAndSet(ASKED) == IDLE) {
            boolean begun = false;
            try {
                writeBack.run(this::flushAsAsked);
                begun = true;
            } finally {
                if (!begun) {
                    flushes.set(IDLE); // or nobody would ever try again
                }
            }
        }
    }

    private void flushAsAsked() {
        boolean done = false;
        try {
            while (!done) {
                flushes.set(FLUSHING);
                flush();
                done = flushes.compareAndSet(FLUSHING, IDLE);
            }
        } finally {
            if (!done) {
                flushes.set(IDLE);
            }
        }
    }

    /**
     * Returns once everything that was pending at the call is committed, or counted as an error.
     */
    public void flush() {
        lock.lock();
        try {
            drain();
        } finally {
            lock.unlock();
        }
    }

    /** Lock held exactly once; released while committing. */
    private void drain() {
        Pending first = committing;
        Pending last = current;
        while ((committing != null && (committing == first || committing == last))
                || (last != null && current == last)) {
            if (committing != null) {
                committed.awaitUninterruptibly();
            } else {
                commitCurrent(() -> {});
            }
        }
    }

    /** Lock held exactly once, nothing committing; released while committing. */
    private WriteBack.Committed commitCurrent(Runnable progress) {
        Invariant.check(committing == null, "two commits of one file at a time");
        Pending pending = current;
        Invariant.check(pending != null, "nothing to commit");
        current = null;
        pending.seen(seenVersion);
        committing = pending;
        WriteBack.Committed result = WriteBack.Committed.failed(Errno.EIO);
        lock.unlock();
        try {
            result = writeBack.commit(ino, pending, progress);
        } finally {
            lock.lock();
            committing = null;
            Attributes answered = pending.made();
            if (answered != null && (made == null || made.getVersion() < answered.getVersion())) {
                made = answered;
                seenVersion = Math.max(seenVersion, answered.getVersion());
            }
            // First of all, as finishing may fail: they go on when the lock is free.
            committed.signalAll();
            finish(pending, result);
        }
        return result;
    }

    private void finish(Pending pending, WriteBack.Committed result) {
        pending.reservedBytes().forEach(writeBack.budget()::release);
        if (current == null) {
            writeBack.clean(this);
        }
        Answer<UpdateReply> answer = result.answer();
        if (result.refused() != 0
                && pending.attributes() != null
                && !pending.attributes().isSetSize()) {
            errors++;
            lastError = Errno.of(result.refused());
        }
        if (result.errno() != 0) {
            if (pending.hasData() || !pending.reservedBytes().isEmpty()) {
                errors++;
                lastError = Errno.of(result.errno());
                LOG.warn("inode {}: written data is lost: {}", ino, lastError);
                backing.lost(ino);
            }
            return;
        }
        UpdateOp op = result.op();
        if (answer == null || op == null) {
            return;
        }
        long base = 0;
        if (pending.append()) {
            base = answer.reply().isSetOffset() ? answer.reply().getOffset() : appendAt;
        }
        List<Extent> placed = new ArrayList<>(result.extents().size());
        for (Extent extent : result.extents()) {
            placed.add(
                    base == 0 ? extent : new Extent(extent).setOffset(extent.getOffset() + base));
        }
        backing.changed(ino, op, placed, answer);
        FragmentedFiles fragmented = writeBack.fragmented();
        compactSoon(new ArrayDeque<>(fragmented.begin(this, fragmented.note(ino, placed))));
    }

    /** In the background, one after the other; what is begun ends whatever happens. */
    private void compactSoon(Deque<Long> windows) {
        if (windows.isEmpty()) {
            return;
        }
        boolean begun = false;
        try {
            writeBack.run(() -> compact(windows, 0));
            begun = true;
        } finally {
            if (!begun) {
                leave(windows);
            }
        }
    }

    private void leave(Deque<Long> windows) {
        windows.forEach(window -> writeBack.fragmented().done(ino, window));
    }

    /**
     * Rewrites MiBs of the file that are too fragmented, until one fails: others may write the
     * file, or storage may be away. That one and those that follow are tried again later, since
     * whoever writes the file waits meanwhile.
     *
     * @param failed how often the first of them has failed
     */
    private void compact(Deque<Long> windows, int failed) {
        boolean again = false;
        try {
            int failures = failed;
            while (!windows.isEmpty() && compacted(windows.getFirst())) {
                writeBack.fragmented().done(ino, windows.removeFirst());
                failures = 0;
            }
            if (!windows.isEmpty()) {
                windows.addLast(windows.removeFirst());
                int already = failures;
                again = writeBack.runAgain(() -> compact(windows, already + 1), already);
            }
        } finally {
            if (!again) {
                leave(windows);
            }
        }
    }

    /** While nothing else is committed through this object. False: that failed. */
    private boolean compacted(long window) {
        Compaction compaction =
                new Compaction(ino, window * Compaction.WINDOW_BYTES, backing, writeBack);
        if (!compaction.isDue(backing.known(ino))) {
            return true;
        }
        if (!compaction.fetchedAhead()) {
            return false;
        }
        lock.lock();
        try {
            Compaction.Outcome outcome = alone(compaction::run);
            Compaction.Done done = outcome.done();
            if (done != null) {
                backing.changed(ino, done.op(), done.extents(), done.answer());
            }
            return !outcome.failed();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Does something while no commit of the file is under way. Lock held exactly once; released
     * meanwhile.
     */
    private <T extends @Nullable Object> T alone(Supplier<T> work) {
        while (committing != null) {
            committed.awaitUninterruptibly();
        }
        committing = new Pending(false, NOBODY);
        lock.unlock();
        try {
            return work.get();
        } finally {
            lock.lock();
            committing = null;
            committed.signalAll();
        }
    }

    /**
     * Executes another update of the file's content map, after everything that is pending now and
     * before what is written later.
     */
    public Outcome update(UpdateOp op, Credentials credentials, Patience patience) {
        lock.lock();
        try {
            drain();
            Answer<UpdateReply> answer =
                    alone(() -> backing.update(ino, credentials, op, patience));
            backing.rearranged(ino);
            return new Outcome(answer.reply().getErrno(), answer);
        } finally {
            lock.unlock();
        }
    }

    /**
     * To be called when {@link #update}, or a change of the size, is answered with an error: it may
     * have taken effect in part, or do so later, and the kernel drops what it has of the range only
     * when it is told of success.
     */
    public void failed() {
        backing.lost(ino);
    }

    /**
     * Attributes set after pending writes, to be committed with them. Only for changes that are
     * certain to be permitted.
     *
     * @return false: nothing is pending that they could join
     */
    public boolean defer(SetAttributesOp op, Credentials credentials) {
        Invariant.check(!op.isSetSize(), "a truncation is not deferred");
        lock.lock();
        try {
            Pending pending = current;
            if (pending == null || !pending.takesAfterWrites(op, credentials)) {
                return false;
            }
            pending.set(op);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Sets attributes, size included, after everything that is pending; in one command with it when
     * {@code certain} says that they will be permitted. Not done at all, EIO, when what was pending
     * took longer than the caller's patience: others may have written since by what he was answered
     * then, and a truncation would take that away.
     *
     * @param progress is told of each command that did a part
     */
    public Outcome setAttributes(
            SetAttributesOp op,
            Credentials credentials,
            boolean certain,
            Patience patience,
            Runnable progress) {
        lock.lock();
        try {
            while (committing != null
                    || (current != null && !(certain && current.takes(op, credentials)))) {
                drain();
            }
            if (patience.over()) {
                return new Outcome(Errno.EIO.number(), null);
            }
            Pending pending = current;
            if (pending == null) {
                pending = new Pending(false, credentials);
                current = pending;
            }
            pending.set(op);
            WriteBack.Committed result = commitCurrent(progress);
            return new Outcome(result.attributesErrno(), result.answer());
        } finally {
            lock.unlock();
        }
    }

    /**
     * How setting attributes ended; without an answer when what was pending before could not be
     * stored, or not in time.
     */
    public record Outcome(int errno, @Nullable Answer<UpdateReply> answer) {}

    /** What the inode was like once this client's last commit was made; null: there was none. */
    public @Nullable Attributes made() {
        lock.lock();
        try {
            return made;
        } finally {
            lock.unlock();
        }
    }

    /**
     * The attributes as this client sees them: of its last commit if they are older, and with what
     * is pending on top; null: neither is so. Where they may have what is just being appended this
     * waits for that, a second at most: replicas tell of it hardly before its commit is answered.
     * What they may have even then is left out: a size that is too great shows zeros.
     */
    public @Nullable Attributes overlay(Attributes base) {
        lock.lock();
        try {
            seen(base.getVersion());
            boolean certain = awaitCertainty(base.getVersion());
            // What was pending when they were asked for may be committed since: they lack it.
            Attributes newest = made;
            if (newest == null || newest.getVersion() <= base.getVersion()) {
                if (committing == null && current == null) {
                    return null;
                }
                newest = base;
            }
            Attributes result = new Attributes(newest);
            if (committing != null && certain) {
                committing.overlay(result);
            }
            if (current != null) {
                current.overlay(result);
            }
            return result;
        } finally {
            lock.unlock();
        }
    }

    /** This version of the inode is known from now on. */
    public void seen(long version) {
        lock.lock();
        try {
            seenVersion = Math.max(seenVersion, version);
            if (committing != null) {
                committing.seen(version);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits while it is uncertain whether that version has what is being committed; true: it is
     * certain now. A commit that begins later is in no version that somebody knows. Lock held.
     */
    private boolean awaitCertainty(long version) {
        Pending first = committing;
        long leftNs = CERTAINTY_NS;
        while (first != null
                && committing == first
                && first.mayBeIn(version)
                && (made == null || made.getVersion() < version)) {
            if (leftNs <= 0) {
                return false;
            }
            try {
                leftNs = committed.awaitNanos(leftNs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            }
        }
        return true;
    }

    /**
     * Fills {@code into} from {@code offset} on, up to the end of the file.
     *
     * @return version of the inode that the bytes are of, as far as they were committed; -1: none
     *     of them was
     */
    public long read(long offset, ByteBuffer into, ReadAhead readAhead, Patience patience)
            throws ContentException {
        return read(offset, into, readAhead, patience, false);
    }

    /** As {@link #read}, and asks for what was committed, whatever is known of it. */
    public long readAnew(long offset, ByteBuffer into, ReadAhead readAhead, Patience patience)
            throws ContentException {
        return read(offset, into, readAhead, patience, true);
    }

    private long read(
            long offset, ByteBuffer into, ReadAhead readAhead, Patience patience, boolean anew)
            throws ContentException {
        if (!into.hasRemaining()) {
            return -1;
        }
        int start = into.position();
        long ahead = readAhead.after(offset, into.remaining());
        for (int attempt = 1; ; attempt++) {
            long end = offset + into.remaining();
            ContentView view;
            ContentMap map;
            lock.lock();
            try {
                view = view(offset, end);
                map = backing.known(ino);
            } finally {
                lock.unlock();
            }
            if (anew || attempt > 1 || map == null || !map.covers(offset, end)) {
                map =
                        view.covers(offset, end)
                                ? null
                                : backing.fetch(ino, offset, end + ahead - offset, patience);
            }
            try {
                view.compose(writeBack.cache(), offset, into, map, ahead);
                return map == null ? -1 : map.version();
            } catch (IOException e) {
                // The block may have been overwritten and collected since the map was fetched: a
                // newer map knows.
                if (attempt == READ_ATTEMPTS || patience.over()) {
                    LOG.error("inode {} is unreadable at {}", ino, offset, e);
                    throw new ContentException(Errno.EIO, "inode " + ino + ": " + e.getMessage());
                }
                LOG.info("inode {} at {}: {}; again", ino, offset, e.getMessage());
                into.position(start);
                LockSupport.parkNanos(20_000_000L << Math.min(attempt, 5));
            }
        }
    }

    /** Lock held exactly once; released while committing. */
    private ContentView view(long offset, long end) {
        while (appends()) {
            // Where appended bytes are is the replicas' to say.
            drain();
        }
        return ContentView.of(offset, end, committing, current);
    }

    /** lseek(2) with SEEK_DATA or SEEK_HOLE; -1: there is none (ENXIO), as before the beginning. */
    public long seek(long offset, boolean data, Patience patience) throws ContentException {
        if (offset < 0) {
            return -1;
        }
        flush();
        for (long at = offset; ; ) {
            ContentMap known = backing.known(ino);
            ContentMap map =
                    known != null && known.covers(at, at + 1)
                            ? known
                            : backing.page(ino, at, patience);
            if (offset >= map.size()) {
                return -1;
            }
            long found = map.seek(at, data);
            if (found != ContentMap.UNKNOWN) {
                return found;
            }
            at = map.knownTo();
        }
    }
}
