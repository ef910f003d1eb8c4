package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Reads a segment's record headers at start. Behind a damaged header it searches on for the next
 * valid one; in an unsealed segment what lies beyond the last valid record is a torn tail.
 */
final class SegmentScan {
    private static final int WINDOW_BYTES = 256 << 10;

    /**
     * In an unsealed segment the bytes of the last records are checked too: a crash can have torn
     * them.
     */
    private static final int VERIFIED_TAIL_BYTES = 4 << 20;

    private final Path path;
    private final FileChannel channel;
    private final SegmentHeader header;
    private final ByteBuffer window;
    private final int fileBytes;
    private long windowAt = -1;

    private final List<ChunkRecord> records = new ArrayList<>();
    private int tail = SegmentFile.HEADER_BYTES;
    private int damagedBytes;

    private SegmentScan(Path path, FileChannel channel, SegmentHeader header, ByteBuffer window)
            throws IOException {
        this.path = path;
        this.channel = channel;
        this.header = header;
        this.window = window;
        this.fileBytes = (int) Math.min(Integer.MAX_VALUE, channel.size());
    }

    /**
     * @param tail where the next record may go
     * @param damagedBytes bytes below the tail that belong to no valid record
     */
    record Found(List<ChunkRecord> records, int tail, int damagedBytes) {}

    static ByteBuffer newWindow() {
        return ByteBuffer.allocateDirect(WINDOW_BYTES);
    }

    static Found scan(Path path, FileChannel channel, SegmentHeader header, ByteBuffer window)
            throws IOException {
        SegmentScan scan = new SegmentScan(path, channel, header, window);
        scan.run();
        if (header.sealedTail() == 0) {
            scan.dropTornTail();
        }
        return new Found(scan.records, scan.tail, scan.damagedBytes);
    }

    private void run() throws IOException {
        int end = header.sealedTail() == 0 ? fileBytes : Math.min(fileBytes, header.sealedTail());
        int at = SegmentFile.HEADER_BYTES;
        while (at + ChunkRecord.FIXED_BYTES <= end) {
            switch (parse(at)) {
                case ChunkRecord.Parsed.Valid(ChunkRecord record) -> {
                    records.add(record);
                    at += record.recordBytes();
                    tail = at;
                }
                case ChunkRecord.Parsed.TooNew(int version) ->
                        throw new IOException(
                                path
                                        + ": record format "
                                        + version
                                        + " is newer than this program reads ("
                                        + ChunkRecord.VERSION
                                        + ")");
                case ChunkRecord.Parsed.Blank _ when header.sealedTail() == 0 -> {
                    return;
                }
                case ChunkRecord.Parsed _ -> {
                    int next = findRecord(at + ChunkRecord.ALIGNMENT, end);
                    if (next < 0 && header.sealedTail() == 0) {
                        return;
                    }
                    damagedBytes += (next < 0 ? end : next) - at;
                    at = next < 0 ? end : next;
                    tail = at;
                }
            }
        }
        if (header.sealedTail() != 0) {
            tail = header.sealedTail();
        }
    }

    private int findRecord(int from, int end) throws IOException {
        for (int at = from; at + ChunkRecord.FIXED_BYTES <= end; at += ChunkRecord.ALIGNMENT) {
            if (parse(at) instanceof ChunkRecord.Parsed.Valid) {
                return at;
            }
        }
        return -1;
    }

    private ChunkRecord.Parsed parse(int at) throws IOException {
        if (windowAt < 0
                || at < windowAt
                || at + ChunkRecord.FIXED_BYTES > windowAt + window.limit()) {
            fill(at);
        }
        ChunkRecord.Parsed parsed =
                ChunkRecord.parse(window, (int) (at - windowAt), header.number(), at);
        if (parsed instanceof ChunkRecord.Parsed.Incomplete && windowAt != at) {
            fill(at);
            parsed = ChunkRecord.parse(window, 0, header.number(), at);
        }
        return parsed;
    }

    private void fill(int at) throws IOException {
        window.clear();
        long from = at;
        while (window.hasRemaining()) {
            int n = channel.read(window, from);
            if (n < 0) {
                break;
            }
            from += n;
        }
        window.flip();
        windowAt = at;
    }

    /**
     * Cuts records off the end as long as their bytes are damaged: their writes never completed.
     */
    private void dropTornTail() throws IOException {
        int verified = 0;
        int keep = records.size();
        while (keep > 0 && verified < VERIFIED_TAIL_BYTES) {
            ChunkRecord last = records.get(keep - 1);
            if (!last.live() || whole(last)) {
                break;
            }
            verified += last.recordBytes();
            keep--;
            tail = last.offset();
        }
        records.subList(keep, records.size()).clear();
    }

    private boolean whole(ChunkRecord record) throws IOException {
        int at = record.offset() + record.headerBytes();
        int left = record.dataBytes();
        CRC32C crc = new CRC32C();
        for (int expected : record.pageCrcs()) {
            int length = Math.min(left, ChunkRecord.PAGE_BYTES);
            fill(at);
            if (window.limit() < length) {
                return false;
            }
            crc.reset();
            crc.update(window.slice(0, length));
            if ((int) crc.getValue() != expected) {
                return false;
            }
            at += length;
            left -= length;
        }
        return at <= fileBytes;
    }
}
