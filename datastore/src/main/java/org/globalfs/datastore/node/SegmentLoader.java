package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the segment files of a folder at start. */
final class SegmentLoader {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentLoader.class);

    private final SegmentStore.Options options;
    private final FaultPoints faults;
    private final ByteBuffer window = SegmentScan.newWindow();
    private final Set<Opened> files = new LinkedHashSet<>();

    /**
     * A file that was opened, and not looked through yet.
     *
     * @param header as far as it can be told from the file's name, if it is damaged
     * @param stamp see {@link SegmentFile#stamp(long)}
     * @param headerUnreadable the disk did not give it
     */
    record Opened(
            Path path,
            FileChannel channel,
            SegmentHeader header,
            long stamp,
            boolean headerUnreadable) {
        boolean sealed() {
            return header.sealedTail() != 0;
        }
    }

    /** What was found in a file. */
    record Loaded(SegmentFile segment, SegmentScan.Found found) {}

    SegmentLoader(SegmentStore.Options options, FaultPoints faults) {
        this.options = options;
        this.faults = faults;
    }

    /** Opens all files, oldest first; {@link #closeRest} closes those that nobody took over. */
    List<Opened> open(Path folder) throws IOException {
        TreeSet<Path> paths = new TreeSet<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, "segment-*.chunks")) {
            found.forEach(paths::add);
        }
        for (Path path : paths) {
            FileChannel channel =
                    FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
            boolean kept = false;
            try {
                if (unborn(channel)) {
                    LOG.warn("{}: created but never written before a crash; removed", path);
                    Files.delete(path);
                } else {
                    files.add(opened(path, channel));
                    kept = true;
                }
            } finally {
                if (!kept) {
                    channel.close();
                }
            }
        }
        return List.copyOf(files);
    }

    void closeRest() throws IOException {
        for (Opened file : files) {
            file.channel.close();
        }
        files.clear();
    }

    /** Takes a sealed file over as the index knows it. */
    SegmentFile trust(Opened file, byte[] summary) throws IOException {
        SegmentFile segment =
                SegmentFile.open(file.path, file.header, file.channel, summary, faults);
        files.remove(file);
        return segment;
    }

    /**
     * Takes a file over, and looks through all its records.
     *
     * @param syncedBytes see {@link SegmentScan#scanAtStart}
     */
    Loaded scan(Opened file, int syncedBytes) throws IOException {
        SegmentScan.Found found =
                SegmentScan.scanAtStart(
                        file.path, file.channel, file.header, syncedBytes, window, faults);
        SegmentFile segment =
                SegmentFile.open(
                        file.path,
                        file.header.number(),
                        file.channel,
                        found,
                        file.sealed(),
                        faults);
        files.remove(file);
        if (file.headerUnreadable) {
            // Not before: a disk that reads nothing may do so again later.
            SegmentFile.writeUntrusted(file.channel, file.header);
        }
        report(file.path, found);
        if (!file.sealed()) {
            segment.cutTail(found.tail());
        }
        if (found.unreadableBytes() > 0) {
            LOG.error(
                    "{}: the disk cannot read {} bytes: look at it, and replace it if there are more",
                    file.path,
                    found.unreadableBytes());
            if (!file.sealed()) {
                // Appends might have to read the page that they begin in.
                segment.seal(options.cluster(), options.node());
            }
        }
        // A process that was killed may have left this to the kernel only, and what is found
        // here is acknowledged from now on: chunks, and the ends of others.
        segment.sync();
        return new Loaded(segment, found);
    }

    private static void report(Path path, SegmentScan.Found found) {
        if (found.damagedBytes() > 0) {
            LOG.error(
                    "{}: {} bytes hold no readable record; their chunks count as lost",
                    path,
                    found.damagedBytes());
        }
        found.gaps()
                .forEach((offset, length) ->
                        LOG.warn(
                                "{}: {} bytes at {} hold no whole record, and records follow: a"
                                        + " crash came before they were written, or the disk has"
                                        + " lost them",
                                path,
                                length,
                                offset));
        if (found.cut() > 0) {
            LOG.warn(
                    "{}: cut off at {}: writes begun behind that and never completed: {}",
                    path,
                    found.tail(),
                    found.cut());
        }
    }

    private Opened opened(Path path, FileChannel channel) throws IOException {
        window.clear().limit(SegmentFile.HEADER_BYTES);
        try {
            faults.scanning(path, 0, SegmentFile.HEADER_BYTES);
            while (window.hasRemaining() && channel.read(window, window.position()) >= 0) {
                // a short read goes on
            }
        } catch (IOException e) {
            LOG.error("{}: the disk cannot read the file header: {}", path, e.toString());
            return new Opened(path, channel, substitute(path, channel), Long.MAX_VALUE, true);
        }
        window.flip();
        SegmentHeader header = SegmentHeader.read(window, path);
        if (header == null) {
            LOG.error("{}: damaged file header; its records are searched for", path);
            return new Opened(path, channel, substitute(path, channel), Long.MAX_VALUE, false);
        }
        checkOwner(path, header, options);
        boolean whole = window.limit() == SegmentFile.HEADER_BYTES;
        return new Opened(
                path, channel, header, whole ? SegmentFile.stamp(window) : Long.MAX_VALUE, false);
    }

    /** As of a sealed file. */
    private SegmentHeader substitute(Path path, FileChannel channel) throws IOException {
        int number = Integer.parseInt(path.getFileName().toString().replaceAll("\\D", ""));
        int size = (int) Math.min(Integer.MAX_VALUE, channel.size());
        return new SegmentHeader(number, options.cluster(), options.node(), Math.max(size, 1));
    }

    /** A crash between creating the file and writing its header leaves it empty or blank. */
    private static boolean unborn(FileChannel channel) throws IOException {
        if (channel.size() > SegmentFile.HEADER_BYTES) {
            return false;
        }
        ByteBuffer start = ByteBuffer.allocate(SegmentFile.HEADER_BYTES);
        try {
            channel.read(start, 0);
        } catch (IOException e) {
            return false; // whoever opens it deals with that
        }
        start.flip();
        while (start.hasRemaining()) {
            if (start.get() != 0) {
                return false;
            }
        }
        return true;
    }

    private static void checkOwner(Path path, SegmentHeader header, SegmentStore.Options options)
            throws IOException {
        if (!header.cluster().equals(options.cluster()) || !header.node().equals(options.node())) {
            throw new IOException(
                    path
                            + " belongs to node "
                            + header.node()
                            + " of cluster "
                            + header.cluster()
                            + ": move it away, or give this node another data folder");
        }
    }
}
