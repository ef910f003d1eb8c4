package org.globalfs.multicast.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.globalfs.multicast.log.LogException.Reason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens a log folder: checks that its segments fit together, replays them, cuts a torn tail. */
final class LogRecovery {
    private static final Logger log = LoggerFactory.getLogger(LogRecovery.class);

    private static final int COPIED_BYTES = 1 << 20;

    /** Opens a segment's file for reading and writing; tests look on. */
    interface Opener {
        FileChannel open(Path file) throws IOException;
    }

    private final LogOptions options;
    private final Opener opener;
    private final RingMetas metas = new RingMetas();
    private final List<Segment> used = new ArrayList<>();
    private final List<Segment> opened = new ArrayList<>();
    private @Nullable Segment unused;
    private boolean lastIsOpen;

    /** Up to where the last one used is surely on disk. */
    private int lastDurable;

    LogRecovery(LogOptions options) {
        this(
                options,
                file -> FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
    }

    LogRecovery(LogOptions options, Opener opener) {
        this.options = options;
        this.opener = opener;
    }

    MulticastLog open(Consumer<StoredRecord> recovered) {
        if (!options.durable()) {
            log.warn(
                    "DURABILITY IS OFF (durability: memory): acknowledged updates of replica {} do not survive a power"
                            + " failure. For benchmarks only.",
                    options.node());
        }
        FolderLock lock;
        try {
            lock = FolderLock.take(options.folder());
        } catch (IOException e) {
            throw new LogException(
                    Reason.IO, "cannot open the multicast log folder " + options.folder(), e);
        }
        try {
            return open(lock, recovered);
        } catch (IOException e) {
            giveUp(lock);
            throw new LogException(
                    Reason.IO, "cannot open the multicast log in " + options.folder(), e);
        } catch (RuntimeException e) {
            giveUp(lock);
            throw e;
        }
    }

    private void giveUp(FolderLock lock) {
        try {
            for (Segment segment : opened) {
                segment.channel.close();
            }
            lock.close();
        } catch (IOException e) {
            log.warn("closing the log in {}: {}", options.folder(), e.toString());
        }
    }

    private MulticastLog open(FolderLock lock, Consumer<StoredRecord> recovered)
            throws IOException {
        deleteUnfinished();
        SegmentScanner scanner = new SegmentScanner();
        for (Path file : segmentFiles()) {
            replay(openSegment(file), scanner, recovered);
        }
        if (!used.isEmpty()) {
            finishNewest(used.getLast());
        }
        SegmentPreparer preparer = new SegmentPreparer(options);
        if (unused != null) {
            preparer.offer(unused);
        }
        return new MulticastLog(options, lock, preparer, used, metas);
    }

    private void replay(Segment segment, SegmentScanner scanner, Consumer<StoredRecord> recovered)
            throws IOException {
        SegmentScanner.End end =
                scanner.scan(
                        segment,
                        record -> {
                            metas.note(record);
                            recovered.accept(record);
                        });
        if (end == SegmentScanner.End.UNUSED) {
            unused = segment;
            return;
        }
        Segment before = used.isEmpty() ? null : used.getLast();
        if (unused != null || lastIsOpen) {
            Segment culprit = unused != null ? unused : used.getLast();
            throw new LogException(
                    Reason.CORRUPT,
                    culprit.file
                            + " ends at byte "
                            + culprit.end
                            + " without the mark of its end, though "
                            + segment.file
                            + " continues it");
        }
        if (before != null && before.sequence() + 1 != segment.sequence()) {
            throw new LogException(
                    Reason.CORRUPT,
                    "log segments between "
                            + before.file
                            + " and "
                            + segment.file
                            + " are missing");
        }
        used.add(segment);
        lastIsOpen = end == SegmentScanner.End.OPEN;
        lastDurable = scanner.durable();
    }

    /**
     * What was read is relied on from now on, so it must be on disk first, the page cache is not
     * enough. Nor is a sync: of what an earlier one failed to write, the kernel keeps the pages as
     * if it had, and writes them no more; so they are written anew. A restart never writes behind a
     * cut: bytes of the torn tail must not come to look like records later.
     */
    private void finishNewest(Segment segment) throws IOException {
        if (options.durable()) {
            writeAgain(segment, lastDurable);
            segment.channel.force(false);
        }
        if (!lastIsOpen) {
            return;
        }
        ByteBuffer seal =
                ByteBuffer.allocate(RecordFormat.SEAL_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        new RecordFormat()
                .encode(
                        seal,
                        segment.sequence(),
                        segment.end,
                        0,
                        StoredRecord.SEAL,
                        0,
                        0,
                        MulticastLog.NOTHING);
        segment.writeFully(seal.flip(), segment.end);
        segment.end += RecordFormat.SEAL_BYTES;
        if (options.durable()) {
            segment.channel.force(false);
        }
    }

    /** From there to the end, the same bytes at the same place. */
    private static void writeAgain(Segment segment, int from) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(COPIED_BYTES);
        for (int at = from; at < segment.end; ) {
            int length = Math.min(COPIED_BYTES, segment.end - at);
            segment.read(bytes, at, length);
            segment.writeFully(bytes.limit(length), at);
            at += length;
        }
    }

    private Segment openSegment(Path file) throws IOException {
        FileChannel channel = opener.open(file);
        ByteBuffer block = ByteBuffer.allocate(SegmentHeader.BYTES);
        int read = 0;
        while (block.hasRemaining() && read >= 0) {
            read = channel.read(block, block.position());
        }
        if (block.hasRemaining()) {
            channel.close();
            throw new LogException(Reason.CORRUPT, file + " is shorter than a segment header");
        }
        SegmentHeader header = SegmentHeader.decode(block, file);
        Segment segment = new Segment(file, channel, header);
        opened.add(segment);
        if (!header.cluster().equals(options.cluster()) || header.node() != options.node()) {
            throw new LogException(
                    Reason.REFUSED,
                    file
                            + " belongs to replica "
                            + header.node()
                            + " of cluster '"
                            + header.cluster()
                            + "', not to replica "
                            + options.node()
                            + " of cluster '"
                            + options.cluster()
                            + "': check 'data' in the configuration");
        }
        if (!SegmentPreparer.fileOf(options.folder(), header.sequence()).equals(file)) {
            throw new LogException(
                    Reason.CORRUPT, file + " says that it is segment " + header.sequence());
        }
        return segment;
    }

    private void deleteUnfinished() throws IOException {
        try (Stream<Path> files = Files.list(options.folder())) {
            for (Path file : files.toList()) {
                if (file.getFileName().toString().endsWith(".tmp")) {
                    Files.delete(file);
                }
            }
        }
    }

    private List<Path> segmentFiles() throws IOException {
        try (Stream<Path> files = Files.list(options.folder())) {
            return files.filter(f -> f.getFileName().toString().matches("segment-\\d{12}\\.log"))
                    .sorted()
                    .toList();
        }
    }
}
