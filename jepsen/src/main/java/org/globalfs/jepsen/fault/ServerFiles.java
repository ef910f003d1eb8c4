package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.zip.CRC32C;
import org.globalfs.protocol.Folders;

/** Where in a server's files there is something, by the formats in {@code docs/formats}. */
enum ServerFiles {
    /** What the rings ordered. */
    LOG("replica-\\d+/log/segment-\\d+\\.log") {
        @Override
        List<Part> parts(Path file, ByteBuffer bytes) {
            return logRecords(file, bytes);
        }
    },
    /** RocksDB's, of which all is in use. */
    STATE("replica-\\d+/p\\d+/(.*\\.sst|MANIFEST-.*|CURRENT)") {
        @Override
        List<Part> parts(Path file, ByteBuffer bytes) {
            return whole(file, bytes);
        }
    },
    /** Where chunks are; likewise. */
    INDEX("storage/[^/]+/index/(.*\\.sst|MANIFEST-.*|CURRENT)") {
        @Override
        List<Part> parts(Path file, ByteBuffer bytes) {
            return whole(file, bytes);
        }
    },
    /** Content. */
    CHUNKS("storage/[^/]+/segment-\\d+\\.chunks") {
        @Override
        List<Part> parts(Path file, ByteBuffer bytes) {
            return chunks(file, bytes);
        }
    },
    /** What a cache has of blocks that storage nodes have too, and where. */
    CACHE("cache/(segment-\\d+\\.chunks|index/(.*\\.sst|MANIFEST-.*|CURRENT))") {
        @Override
        List<Part> parts(Path file, ByteBuffer bytes) {
            return file.toString().endsWith(".chunks")
                    ? chunks(file, bytes).stream().map(Part::ofNoBlock).toList()
                    : whole(file, bytes);
        }
    };

    private static final int FILE_HEADER_BYTES = 4096;

    private static final int LOG_RECORD_HEADER_BYTES = 32;
    private static final int LOG_SEAL = 63;

    private static final int CHUNK_MAGIC = 0x47465343;
    private static final int CHUNK_RECORD_HEADER_BYTES = 64;
    private static final int CHUNK_ALIVE = 1;

    /**
     * Bytes of a file that mean one thing.
     *
     * @param block what they are a chunk of; empty: they are no chunk
     */
    record Part(Path file, int from, int to, String block) {
        Part ofNoBlock() {
            return new Part(file, from, to, "");
        }
    }

    private final String names;

    ServerFiles(String names) {
        this.names = names;
    }

    abstract List<Part> parts(Path file, ByteBuffer bytes);

    /**
     * The parts of one of the server's files, where chance wants it.
     *
     * @param data the server's folder; it must not run
     */
    List<Part> partsOfOne(Path data, Random random) throws IOException {
        List<Path> files =
                Folders.files(data, file -> data.relativize(file).toString().matches(names));
        while (!files.isEmpty()) {
            Path file = files.remove(random.nextInt(files.size()));
            List<Part> parts = parts(file);
            if (!parts.isEmpty()) {
                return parts;
            }
        }
        return List.of();
    }

    /** Whether a server has any that hold something. */
    boolean areIn(Path data, Random random) throws IOException {
        return Files.exists(data) && !partsOfOne(data, random).isEmpty();
    }

    /** A mapping that lasted longer would keep the server's disk from being unmounted. */
    private List<Part> parts(Path file) throws IOException {
        try (Arena arena = Arena.ofConfined();
                FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            MemorySegment bytes =
                    channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
            return parts(file, bytes.asByteBuffer());
        }
    }

    private static List<Part> whole(Path file, ByteBuffer bytes) {
        return bytes.hasRemaining() ? List.of(new Part(file, 0, bytes.limit(), "")) : List.of();
    }

    /**
     * Records whose damage a start has to notice: of a sealed segment all, otherwise those that the
     * last one calls durable. What comes later looks like what a crash tore.
     */
    private static List<Part> logRecords(Path file, ByteBuffer bytes) {
        if (bytes.limit() < FILE_HEADER_BYTES) {
            return List.of();
        }
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        List<Part> records = new ArrayList<>();
        long sequence = bytes.getLong(16);
        int durable = 0;
        int at = FILE_HEADER_BYTES;
        while (at <= bytes.limit() - LOG_RECORD_HEADER_BYTES) {
            int payload = bytes.getInt(at + 4);
            if (payload < 0
                    || payload > bytes.limit() - at - LOG_RECORD_HEADER_BYTES
                    || bytes.getInt(at) != logCrc(sequence, bytes, at, payload)) {
                break;
            }
            int end = at + LOG_RECORD_HEADER_BYTES + payload;
            durable = bytes.getInt(at + 8);
            records.add(new Part(file, at, end, ""));
            if (bytes.get(at + 12) == LOG_SEAL) {
                return records;
            }
            at = (end + 7) & -8;
        }
        int known = durable;
        return records.stream().filter(record -> record.to <= known).toList();
    }

    private static int logCrc(long sequence, ByteBuffer bytes, int at, int payload) {
        CRC32C crc = new CRC32C();
        ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        crc.update(number.putLong(sequence).flip());
        crc.update(bytes.slice(at + 4, LOG_RECORD_HEADER_BYTES - 4 + payload));
        return (int) crc.getValue();
    }

    private static List<Part> chunks(Path file, ByteBuffer bytes) {
        List<Part> chunks = new ArrayList<>();
        int at = FILE_HEADER_BYTES;
        while (at <= bytes.limit() - CHUNK_RECORD_HEADER_BYTES && bytes.getInt(at) == CHUNK_MAGIC) {
            int recordBytes = bytes.getInt(at + 28);
            if (recordBytes < CHUNK_RECORD_HEADER_BYTES || recordBytes > bytes.limit() - at) {
                break;
            }
            if (bytes.get(at + 5) == CHUNK_ALIVE) {
                String block =
                        Long.toHexString(bytes.getLong(at + 8))
                                + Long.toHexString(bytes.getLong(at + 16));
                chunks.add(new Part(file, at, at + recordBytes, block));
            }
            at += recordBytes;
        }
        return chunks;
    }

    /** A part of a file, where chance wants it, that is none of those blocks'. */
    Optional<Part> any(Path data, Random random, Set<String> sparing) throws IOException {
        List<Part> parts =
                partsOfOne(data, random).stream()
                        .filter(part -> !sparing.contains(part.block))
                        .toList();
        return parts.isEmpty()
                ? Optional.empty()
                : Optional.of(parts.get(random.nextInt(parts.size())));
    }
}
