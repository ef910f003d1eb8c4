package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Reads a segment's record headers at start. Behind a damaged or blank header it searches on for
 * the next valid one; in an unsealed segment what lies beyond the last valid record is a torn tail.
 * What the disk cannot read is damaged, unless it is so much that the disk as a whole is to be
 * suspected.
 *
 * <p>Of an unsealed segment the index says up to where all was on disk once. What is not as it
 * should be below that is damage. Beyond, it is most likely what a crash left of writes that nobody
 * was told of, which reach the disk in any order.
 */
final class SegmentScan {
    private static final int WINDOW_BYTES = 256 << 10;

    /** Read at once where records are so long that most of a window would be chunks' bytes. */
    private static final int SHORT_WINDOW_BYTES = 4 << 10;

    /** What the disk and the kernel read at least. */
    private static final int BLOCK_BYTES = 4 << 10;

    private static final int MOST_UNREADABLE_BYTES = 1 << 20;

    private final Path path;
    private final FileChannel channel;
    private final SegmentHeader header;
    private final ByteBuffer window;
    private final int fileBytes;

    /** Everything below was on disk once. */
    private final int syncedEnd;

    private long windowAt = -1;
    private int lastAt;

    private final List<ChunkRecord> records = new ArrayList<>();
    private int tail = SegmentFile.HEADER_BYTES;

    /** Bytes that belong to no record, by offset. */
    private final NavigableMap<Integer, Integer> damaged = new TreeMap<>();

    /** No whole header where a record begins, other ones behind, by offset: was never on disk. */
    private final NavigableMap<Integer, Integer> gaps = new TreeMap<>();

    private final Set<Integer> torn = new HashSet<>();
    private int cut;

    /** Null: what cannot be read is a failure. */
    private final @Nullable FaultPoints faults;

    /** Numbers of blocks. */
    private final Set<Long> unreadable = new HashSet<>();

    private SegmentScan(
            Path path,
            FileChannel channel,
            SegmentHeader header,
            int syncedBytes,
            ByteBuffer window,
            @Nullable FaultPoints faults)
            throws IOException {
        this.faults = faults;
        this.path = path;
        this.channel = channel;
        this.header = header;
        this.window = window;
        this.fileBytes = (int) Math.min(Integer.MAX_VALUE, channel.size());
        this.syncedEnd = Math.min(fileBytes, syncedBytes);
    }

    /**
     * @param tail where the next record may go
     * @param damagedBytes bytes below the tail that belong to no valid record
     * @param gaps offsets and lengths of what is blank, or begins with a torn header, between the
     *     records of an unsealed segment, and was never known to be on disk
     * @param torn offsets of live records in an unsealed segment whose bytes are damaged: most
     *     likely their writes never completed, while later ones did
     * @param cut records at the end of an unsealed segment that were begun, and are left out
     * @param unreadableBytes what the disk did not give of what was looked at
     */
    record Found(
            List<ChunkRecord> records,
            int tail,
            int damagedBytes,
            Map<Integer, Integer> gaps,
            Set<Integer> torn,
            int cut,
            int unreadableBytes) {}

    static ByteBuffer newWindow() {
        return ByteBuffer.allocateDirect(WINDOW_BYTES);
    }

    /** Fails where the disk cannot read something. */
    static Found scan(Path path, FileChannel channel, SegmentHeader header, ByteBuffer window)
            throws IOException {
        return scan(new SegmentScan(path, channel, header, 0, window, null));
    }

    /**
     * Goes on where the disk cannot read something.
     *
     * @param syncedBytes how far an unsealed segment is known to have been on disk, at least
     */
    static Found scanAtStart(
            Path path,
            FileChannel channel,
            SegmentHeader header,
            int syncedBytes,
            ByteBuffer window,
            FaultPoints faults)
            throws IOException {
        return scan(new SegmentScan(path, channel, header, syncedBytes, window, faults));
    }

    private static Found scan(SegmentScan scan) throws IOException {
        scan.run();
        if (scan.header.sealedTail() == 0) {
            scan.verify();
        }
        int damagedBytes = scan.damaged.headMap(scan.tail).values().stream().mapToInt(n -> n).sum();
        return new Found(
                scan.records,
                scan.tail,
                damagedBytes,
                scan.gaps,
                scan.torn,
                scan.cut,
                scan.unreadable.size() * BLOCK_BYTES);
    }

    private void run() throws IOException {
        boolean sealed = header.sealedTail() != 0;
        int end = sealed ? Math.min(fileBytes, header.sealedTail()) : fileBytes;
        int at = SegmentFile.HEADER_BYTES;
        while (at + ChunkRecord.FIXED_BYTES <= end) {
            switch (parse(at)) {
                case ChunkRecord.Parsed.Valid(ChunkRecord record) -> {
                    records.add(record);
                    at += record.recordBytes();
                }
                case ChunkRecord.Parsed.TooNew(int version) ->
                        throw new IOException(
                                path
                                        + ": record format "
                                        + version
                                        + " is newer than this program reads ("
                                        + ChunkRecord.VERSION
                                        + ")");
                case ChunkRecord.Parsed other -> {
                    boolean blank = other instanceof ChunkRecord.Parsed.Blank;
                    boolean unwritten = blank || other instanceof ChunkRecord.Parsed.Torn;
                    int next = findRecord(at + ChunkRecord.ALIGNMENT, end);
                    if (next < 0) {
                        next = sealed ? end : syncedEnd;
                    }
                    if (next <= at) {
                        cut = blank ? 0 : 1;
                        return;
                    }
                    (unwritten && !sealed && at >= syncedEnd ? gaps : damaged).put(at, next - at);
                    at = next;
                }
            }
            tail = at;
        }
        if (sealed) {
            tail = header.sealedTail();
        }
    }

    private int findRecord(int from, int end) throws IOException {
        for (int at = from; at + ChunkRecord.FIXED_BYTES <= end; at += ChunkRecord.ALIGNMENT) {
            ChunkRecord.Parsed parsed = parse(at);
            if (parsed instanceof ChunkRecord.Parsed.Valid
                    || parsed instanceof ChunkRecord.Parsed.TooNew) {
                return at;
            }
        }
        return -1;
    }

    private ChunkRecord.Parsed parse(int at) throws IOException {
        if (windowAt < 0
                || at < windowAt
                || at + ChunkRecord.FIXED_BYTES > windowAt + window.limit()) {
            fill(at, at - lastAt < WINDOW_BYTES / 4 ? WINDOW_BYTES : SHORT_WINDOW_BYTES);
        }
        lastAt = at;
        ChunkRecord.Parsed parsed =
                ChunkRecord.parse(window, (int) (at - windowAt), header.number(), at);
        if (parsed instanceof ChunkRecord.Parsed.Incomplete && windowAt != at) {
            fill(at, WINDOW_BYTES);
            parsed = ChunkRecord.parse(window, 0, header.number(), at);
        }
        return parsed;
    }

    private void fill(int at, int bytes) throws IOException {
        window.clear().limit(bytes);
        try {
            read(at);
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            if (faults == null) {
                throw e;
            }
            window.clear().limit(Math.clamp(fileBytes - at, 0, bytes));
            fillByBlocks(at);
        }
        window.flip();
        windowAt = at;
    }

    /** Fills the rest of the window, as far as the file goes. */
    private void read(long at) throws IOException {
        if (faults != null) {
            faults.scanning(path, at, window.remaining());
        }
        long from = at;
        while (window.hasRemaining()) {
            int n = channel.read(window, from);
            if (n < 0) {
                break;
            }
            from += n;
        }
    }

    /** What cannot be read is no record, and not blank either: others may follow. */
    private void fillByBlocks(int at) throws IOException {
        int end = window.limit();
        while (window.position() < end) {
            int start = window.position();
            long from = (long) at + start;
            int length = (int) Math.min(end - start, BLOCK_BYTES - from % BLOCK_BYTES);
            window.limit(start + length);
            try {
                read(from);
            } catch (ClosedChannelException e) {
                throw e;
            } catch (IOException e) {
                noteUnreadable(from / BLOCK_BYTES, e);
                window.position(start);
                while (window.hasRemaining()) {
                    window.put((byte) 0xff);
                }
            }
            window.limit(end);
        }
    }

    private void noteUnreadable(long block, IOException cause) throws IOException {
        unreadable.add(block);
        if (unreadable.size() > MOST_UNREADABLE_BYTES / BLOCK_BYTES) {
            throw new IOException(
                    path
                            + ": more than "
                            + MOST_UNREADABLE_BYTES
                            + " bytes cannot be read: look at the disk and its cables, and replace"
                            + " it if it fails",
                    cause);
        }
    }

    /**
     * Checks the bytes of all live records: a crash can have torn any that was not synced. Those at
     * the end are cut off, as their writes never completed, unless they are known to have been on
     * disk.
     */
    private void verify() throws IOException {
        for (ChunkRecord record : records) {
            if (record.live() && !isWhole(record)) {
                torn.add(record.offset());
            }
        }
        while (!records.isEmpty()
                && records.getLast().offset() >= syncedEnd
                && torn.remove(records.getLast().offset())) {
            tail = records.removeLast().offset();
            cut++;
            Map.Entry<Integer, Integer> gap = gaps.lastEntry();
            if (gap != null && gap.getKey() + gap.getValue() == tail) {
                gaps.remove(gap.getKey());
                tail = gap.getKey();
            }
        }
    }

    private boolean isWhole(ChunkRecord record) throws IOException {
        int at = record.offset() + record.headerBytes();
        int left = record.dataBytes();
        CRC32C crc = new CRC32C();
        for (int expected : record.pageCrcs()) {
            int length = Math.min(left, ChunkRecord.PAGE_BYTES);
            if (at < windowAt || at + length > windowAt + window.limit()) {
                fill(at, WINDOW_BYTES);
            }
            if (window.limit() - (at - windowAt) < length) {
                return false;
            }
            crc.reset();
            crc.update(window.slice((int) (at - windowAt), length));
            if ((int) crc.getValue() != expected) {
                return false;
            }
            at += length;
            left -= length;
        }
        return at <= fileBytes;
    }
}
