package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the segment files of a folder at start, oldest first. */
final class SegmentLoader {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentLoader.class);

    interface Sink {
        void segment(SegmentFile segment, SegmentScan.Found found) throws IOException;
    }

    private SegmentLoader() {}

    static void load(Path folder, SegmentStore.Options options, FaultPoints faults, Sink sink)
            throws IOException {
        TreeSet<Path> paths = new TreeSet<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "segment-*.chunks")) {
            files.forEach(paths::add);
        }
        ByteBuffer window = SegmentScan.newWindow();
        long start = System.nanoTime();
        long records = 0;
        for (Path path : paths) {
            records += loadOne(path, options, faults, window, sink);
        }
        if (!paths.isEmpty()) {
            LOG.info(
                    "{}: {} records in {} segments read in {} ms",
                    folder,
                    records,
                    paths.size(),
                    (System.nanoTime() - start) / 1_000_000);
        }
    }

    private static int loadOne(
            Path path,
            SegmentStore.Options options,
            FaultPoints faults,
            ByteBuffer window,
            Sink sink)
            throws IOException {
        FileChannel channel =
                FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
        boolean adopted = false;
        try {
            if (unborn(channel)) {
                LOG.warn("{}: created but never written before a crash; removed", path);
                Files.delete(path);
                return 0;
            }
            SegmentHeader header = header(path, channel, options, window);
            SegmentScan.Found found = SegmentScan.scan(path, channel, header, window);
            boolean sealed = header.sealedTail() != 0;
            SegmentFile segment =
                    SegmentFile.open(path, header.number(), channel, found, sealed, faults);
            if (found.damagedBytes() > 0) {
                LOG.error(
                        "{}: {} bytes hold no readable record; their chunks count as lost",
                        path,
                        found.damagedBytes());
            }
            if (!sealed) {
                segment.cutTail(found.tail());
            }
            // A process that was killed may have left this to the kernel only, and what is found
            // here is acknowledged from now on: chunks, and the ends of others.
            segment.sync();
            adopted = true;
            sink.segment(segment, found);
            return found.records().size();
        } finally {
            if (!adopted) {
                channel.close();
            }
        }
    }

    /** Records can be read without the file's header: a damaged one costs no chunk. */
    private static SegmentHeader header(
            Path path, FileChannel channel, SegmentStore.Options options, ByteBuffer window)
            throws IOException {
        window.clear().limit(SegmentFile.HEADER_BYTES);
        channel.read(window, 0);
        SegmentHeader header = SegmentHeader.read(window.flip(), path);
        if (header == null) {
            LOG.error("{}: damaged file header; its records are searched for", path);
            int number = Integer.parseInt(path.getFileName().toString().replaceAll("\\D", ""));
            int size = (int) Math.min(Integer.MAX_VALUE, channel.size());
            return new SegmentHeader(number, options.cluster(), options.node(), Math.max(size, 1));
        }
        checkOwner(path, header, options);
        return header;
    }

    /** A crash between creating the file and writing its header leaves it empty or blank. */
    private static boolean unborn(FileChannel channel) throws IOException {
        ByteBuffer start = ByteBuffer.allocate(SegmentFile.HEADER_BYTES);
        channel.read(start, 0);
        start.flip();
        while (start.hasRemaining()) {
            if (start.get() != 0) {
                return false;
            }
        }
        return channel.size() <= SegmentFile.HEADER_BYTES;
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
