package org.globalfs.replica.service;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.wire.CheckpointFile;
import org.globalfs.protocol.wire.CheckpointReply;
import org.globalfs.protocol.wire.CheckpointRequest;
import org.globalfs.protocol.wire.PieceReply;
import org.globalfs.protocol.wire.PieceRequest;
import org.globalfs.protocol.wire.ReleaseReply;
import org.globalfs.protocol.wire.ReleaseRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands copies of this replica's state to peers that fell too far behind, piece by piece. */
final class CheckpointSource {

    static final int MAX_PIECE_BYTES = 1 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(CheckpointSource.class);
    private static final int MAX_COPIES = 4;
    private static final long UNUSED_LIMIT_NS = 120_000_000_000L;

    private final Map<Integer, HostedPartition> partitions;
    private final Path folder;
    private final Map<Long, Copy> copies = new HashMap<>();

    private static final class Copy {
        final Path folder;
        final Set<String> files = new HashSet<>();
        long usedNs = System.nanoTime();

        Copy(Path folder) {
            this.folder = folder;
        }
    }

    CheckpointSource(Map<Integer, HostedPartition> partitions, Path folder) throws IOException {
        this.partitions = partitions;
        this.folder = folder;
        Folders.delete(folder);
        Files.createDirectories(folder);
    }

    synchronized CheckpointReply checkpoint(CheckpointRequest request) throws IOException {
        dropUnused(UNUSED_LIMIT_NS);
        HostedPartition partition = partitions.get(request.getPartition());
        if (partition == null
                || partition.applied() < request.getMinimum()
                || copies.size() >= MAX_COPIES) {
            return new CheckpointReply(0, 0, List.of());
        }
        long id = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
        Copy copy = new Copy(folder.resolve(Long.toHexString(id)));
        copies.put(id, copy);
        long instance = partition.use(state -> state.checkpoint(copy.folder));
        List<CheckpointFile> files = new ArrayList<>();
        List<Path> paths;
        try (Stream<Path> listed = Files.list(copy.folder)) {
            paths = listed.sorted().toList();
        }
        for (Path path : paths) {
            String name = path.getFileName().toString();
            copy.files.add(name);
            // Whoever waits for that of a large state gives up.
            int sum = request.isPieceSums() ? 0 : crc(path);
            files.add(new CheckpointFile(name, Files.size(path), sum));
        }
        copy.usedNs = System.nanoTime();
        LOG.info(
                "partition {}: a peer fetches a checkpoint at {}",
                request.getPartition(),
                instance);
        return new CheckpointReply(id, instance, files);
    }

    PieceReply piece(PieceRequest request) throws IOException {
        Path path;
        synchronized (this) {
            Copy copy = copies.get(request.getId());
            if (copy == null || !copy.files.contains(request.getFile())) {
                throw new IOException("no such checkpoint or file: " + request.getFile());
            }
            copy.usedNs = System.nanoTime();
            path = copy.folder.resolve(request.getFile());
        }
        ByteBuffer piece = ByteBuffer.allocate(Math.clamp(request.getLength(), 1, MAX_PIECE_BYTES));
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            long position = request.getOffset();
            while (piece.hasRemaining()) {
                int count = channel.read(piece, position);
                if (count < 0) {
                    break;
                }
                position += count;
            }
        }
        return new PieceReply(piece.flip()).setCrc32c(crc(piece.duplicate()));
    }

    synchronized ReleaseReply release(ReleaseRequest request) throws IOException {
        Copy copy = copies.remove(request.getId());
        if (copy != null) {
            Folders.delete(copy.folder);
        }
        return new ReleaseReply();
    }

    /** Peers that died while they fetched leave copies behind. */
    synchronized void dropUnused() throws IOException {
        dropUnused(UNUSED_LIMIT_NS);
    }

    private void dropUnused(long limitNs) throws IOException {
        long nowNs = System.nanoTime();
        for (Long id : List.copyOf(copies.keySet())) {
            Copy copy = copies.get(id);
            if (copy != null && nowNs - copy.usedNs > limitNs) {
                copies.remove(id);
                Folders.delete(copy.folder);
            }
        }
    }

    static int crc(ByteBuffer piece) {
        CRC32C crc = new CRC32C();
        crc.update(piece);
        return (int) crc.getValue();
    }

    static int crc(Path path) throws IOException {
        CRC32C crc = new CRC32C();
        ByteBuffer buffer = ByteBuffer.allocate(MAX_PIECE_BYTES);
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            while (channel.read(buffer.clear()) >= 0) {
                crc.update(buffer.flip());
            }
        }
        return (int) crc.getValue();
    }
}
