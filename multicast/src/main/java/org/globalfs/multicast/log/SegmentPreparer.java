package org.globalfs.multicast.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.Folders;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the next segment ready before it is needed: every block written once, so that a sync of it
 * changes no file metadata. Works in the background, out of a trimmed segment when there is one.
 */
final class SegmentPreparer {
    private static final Logger log = LoggerFactory.getLogger(SegmentPreparer.class);
    private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 20).asReadOnlyBuffer();
    private static final int SYNC_EVERY_BYTES = 4 << 20;

    /** A checkpoint trims several segments at once; one made anew is written twice. */
    private static final int MOST_SPARES = 4;

    /** Makes the names in a folder durable; tests look on. */
    interface FolderSync {
        void sync(Path folder) throws IOException;
    }

    private final LogOptions options;
    private final FolderSync names;
    private final ThreadPoolExecutor background;

    private long wanted = -1;
    private @Nullable Segment ready;

    /** Those whose files are still there, oldest first; its monitor is held while they go. */
    private final Queue<Segment> trimmed = new ConcurrentLinkedQueue<>();

    private final ArrayDeque<Path> spares = new ArrayDeque<>();
    private long spareNumber;
    private boolean keepsSpares = true;

    SegmentPreparer(LogOptions options) {
        this(options, Folders::sync);
    }

    SegmentPreparer(LogOptions options, FolderSync names) {
        this(
                options,
                names,
                task -> {
                    Thread thread = new Thread(task, "log-prepare-" + options.node());
                    thread.setDaemon(true);
                    return thread;
                });
    }

    SegmentPreparer(LogOptions options, FolderSync names, ThreadFactory threads) {
        this.options = options;
        this.names = names;
        this.background =
                new ThreadPoolExecutor(
                        1, 1, 5, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads);
        background.allowCoreThreadTimeOut(true);
    }

    static Path fileOf(Path folder, long sequence) {
        return folder.resolve(String.format("segment-%012d.log", sequence));
    }

    /** Starts preparing this segment in the background, if the system has a thread for that. */
    synchronized void want(long sequence, int capacity) {
        wanted = sequence;
        boolean begun =
                inBackground(() -> {
                    try {
                        prepare(sequence, capacity);
                    } catch (IOException e) {
                        // Not fatal yet: the writer makes its own segment when it needs one, and
                        // fails if it cannot.
                        log.warn(
                                "cannot prepare the next log segment in {}: {}",
                                options.folder(),
                                e.toString());
                    }
                });
        if (!begun) {
            log.warn("no thread to prepare the next log segment in {}", options.folder());
        }
    }

    /** False: the system gives no thread now. The task may be run later all the same. */
    private boolean inBackground(Runnable task) {
        try {
            background.execute(task);
            return true;
        } catch (OutOfMemoryError e) {
            return false;
        }
    }

    /** A found prepared segment of an earlier run. */
    synchronized void offer(Segment segment) {
        wanted = segment.sequence();
        ready = segment;
    }

    /**
     * The prepared segment if it is ready and large enough, else a new one of the given size, made
     * now.
     */
    synchronized Segment take(long sequence, int leastCapacity, int capacityIfNone)
            throws IOException {
        wanted = -1;
        Segment prepared = ready;
        ready = null;
        if (prepared != null) {
            if (prepared.sequence() == sequence && prepared.header.capacity() >= leastCapacity) {
                return prepared;
            }
            prepared.channel.close();
            Files.deleteIfExists(prepared.file);
        }
        int capacity = Math.max(leastCapacity, capacityIfNone);
        Path file = fileOf(options.folder(), sequence);
        Path unfinished = options.folder().resolve("now-" + sequence + ".tmp");
        FileChannel channel = openNew(unfinished);
        try {
            fill(channel, capacity, () -> true);
            return finish(channel, unfinished, file, sequence, capacity);
        } catch (IOException e) {
            giveBack(channel, unfinished, e);
            throw e;
        }
    }

    /** Whether trimmed segments are kept; if not, those that were go with the next one. */
    synchronized void keepSpares(boolean value) {
        keepsSpares = value;
    }

    /** Takes over the file of a trimmed segment. */
    void recycle(Segment segment) {
        trimmed.add(segment);
        if (!inBackground(this::recycleTrimmed)) {
            // Their space counts for more than the time that this takes here.
            recycleTrimmed();
        }
    }

    /** Nothing newer goes before what cannot: the next start would miss it between the others. */
    private void recycleTrimmed() {
        // Not the preparer's own monitor: who takes a segment does not wait for files to go.
        synchronized (trimmed) {
            try {
                deleteUnwantedSpares();
            } catch (IOException e) {
                log.warn("cannot delete trimmed segments: {}", e.toString());
            }
            for (Segment oldest = trimmed.peek(); oldest != null; oldest = trimmed.peek()) {
                try {
                    recycleNow(oldest);
                } catch (NoSuchFileException e) {
                    log.warn("somebody else has removed {}", oldest.file);
                } catch (IOException e) {
                    log.warn("cannot recycle {}, will try again: {}", oldest.file, e.toString());
                    return;
                }
                trimmed.remove();
            }
        }
    }

    private void recycleNow(Segment segment) throws IOException {
        segment.channel.close();
        if (wantsSpare(segment)) {
            Path target = nextSpare();
            Files.move(segment.file, target, StandardCopyOption.ATOMIC_MOVE);
            synchronized (this) {
                spares.add(target);
            }
        } else {
            Files.deleteIfExists(segment.file);
        }
    }

    private synchronized Path nextSpare() {
        return options.folder().resolve("spare-" + spareNumber++ + ".tmp");
    }

    private synchronized void deleteUnwantedSpares() throws IOException {
        while (!keepsSpares && !spares.isEmpty()) {
            Files.deleteIfExists(spares.element());
            spares.remove();
        }
    }

    private synchronized boolean wantsSpare(Segment segment) {
        return keepsSpares
                && spares.size() < MOST_SPARES
                && segment.header.capacity() == options.segmentBytes();
    }

    private synchronized boolean stillWanted(long sequence) {
        return wanted == sequence;
    }

    private void prepare(long sequence, int capacity) throws IOException {
        if (!stillWanted(sequence)) {
            return;
        }
        Path unfinished = options.folder().resolve("next-" + sequence + ".tmp");
        Path recycled;
        synchronized (this) {
            recycled = capacity == options.segmentBytes() ? spares.poll() : null;
        }
        FileChannel channel;
        if (recycled != null) {
            Files.move(recycled, unfinished, StandardCopyOption.ATOMIC_MOVE);
            channel =
                    FileChannel.open(unfinished, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } else {
            channel = openNew(unfinished);
        }
        try {
            if (recycled != null) {
                // Or a power cut could leave the new header under the old segment's name.
                syncNames();
            }
            boolean whole =
                    recycled != null || fill(channel, capacity, () -> stillWanted(sequence));
            offerIfWanted(whole, channel, unfinished, sequence, capacity);
        } catch (IOException e) {
            giveBack(channel, unfinished, e);
            throw e;
        }
    }

    private synchronized void offerIfWanted(
            boolean whole, FileChannel channel, Path unfinished, long sequence, int capacity)
            throws IOException {
        if (whole && wanted == sequence) {
            ready =
                    finish(
                            channel,
                            unfinished,
                            fileOf(options.folder(), sequence),
                            sequence,
                            capacity);
        } else {
            channel.close();
            Files.deleteIfExists(unfinished);
        }
    }

    /** A full disk needs the space of what could not be finished. */
    private static void giveBack(FileChannel channel, Path unfinished, IOException failure) {
        try {
            channel.close();
            Files.deleteIfExists(unfinished);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    private static FileChannel openNew(Path file) throws IOException {
        return FileChannel.open(
                file,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    private boolean fill(FileChannel channel, int capacity, java.util.function.BooleanSupplier goOn)
            throws IOException {
        if (!options.durable()) {
            writeZeros(channel, capacity - 1, 1); // nothing is synced: only the size counts
            return true;
        }
        int unsynced = 0;
        for (int at = 0; at < capacity; ) {
            if (!goOn.getAsBoolean()) {
                return false;
            }
            int written = writeZeros(channel, at, capacity - at);
            at += written;
            unsynced += written;
            if (unsynced >= SYNC_EVERY_BYTES) {
                channel.force(false);
                unsynced = 0;
            }
        }
        return true;
    }

    private static int writeZeros(FileChannel channel, int at, int most) throws IOException {
        ByteBuffer zeros = ZEROS.duplicate();
        return channel.write(zeros.limit(Math.min(zeros.capacity(), most)), at);
    }

    private Segment finish(
            FileChannel channel, Path unfinished, Path file, long sequence, int capacity)
            throws IOException {
        SegmentHeader header =
                new SegmentHeader(sequence, capacity, options.node(), options.cluster());
        Segment segment = new Segment(file, channel, header);
        segment.writeFully(header.encode(), 0);
        if (options.durable()) {
            channel.force(true);
        }
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
        syncNames();
        return segment;
    }

    private void syncNames() throws IOException {
        if (options.durable()) {
            names.sync(options.folder());
        }
    }

    /** Ends background work; what was unfinished is deleted at the next start. */
    void close() throws IOException {
        synchronized (this) {
            wanted = -1;
        }
        background.shutdown();
        try {
            if (!background.awaitTermination(10, TimeUnit.SECONDS)) {
                throw new IOException(
                        "preparing a log segment in " + options.folder() + " did not end");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        synchronized (this) {
            if (ready != null) {
                ready.channel.close();
                ready = null;
            }
        }
    }
}
