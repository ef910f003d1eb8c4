package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.zip.CRC32C;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkPages;
import org.jspecify.annotations.Nullable;

/** Reads records where the index says they are, and checks them. */
final class RecordReader {
    private RecordReader() {}

    /** Room that {@link #read} needs for a range of this length. */
    static int room(int length) {
        return ChunkRecord.MAX_HEADER_BYTES
                + length
                + 2 * ChunkRecord.PAGE_BYTES
                + 3 * SegmentFile.BLOCK_BYTES;
    }

    /**
     * A range of a chunk, then between position and limit of `into`.
     *
     * @param direct how to read what nobody reads again soon; null: through the page cache
     * @return false: what stands there is not the chunk's record, or damaged
     * @throws ClosedChannelException the segment is gone
     */
    static boolean read(
            ChunkLocation location,
            ChunkKey key,
            int offset,
            int length,
            ByteBuffer into,
            @Nullable DirectReads direct)
            throws IOException {
        int headerBytes =
                ChunkRecord.headerBytes(
                        ChunkRecord.homeBytes(location.home()), location.dataBytes());
        int firstPage = offset / ChunkRecord.PAGE_BYTES;
        int from = firstPage * ChunkRecord.PAGE_BYTES;
        int to =
                Math.min(
                        location.dataBytes(),
                        ChunkPages.count(offset + length) * ChunkRecord.PAGE_BYTES);
        int bytes = Math.max(0, to - from);
        into.clear();
        int headerAt =
                direct != null && direct.take(bytes, into)
                        ? readBlocks(location, headerBytes, from, bytes, into, direct)
                        : read(location, headerBytes, from, bytes, into);
        int dataAt = into.limit() - bytes;
        if (into.hasRemaining()) {
            return false; // the file ends before the record does
        }
        into.flip();
        ChunkRecord.Parsed parsed =
                ChunkRecord.parse(into, headerAt, location.segment().number(), location.offset());
        if (!(parsed instanceof ChunkRecord.Parsed.Valid(ChunkRecord record))
                || !record.live()
                || !record.key().equals(key)) {
            return false;
        }
        CRC32C crc = new CRC32C();
        for (int page = firstPage, at = from; at < to; page++, at += ChunkRecord.PAGE_BYTES) {
            crc.reset();
            crc.update(into.slice(dataAt + at - from, Math.min(ChunkRecord.PAGE_BYTES, to - at)));
            if ((int) crc.getValue() != record.pageCrcs()[page]) {
                return false;
            }
        }
        into.position(dataAt + offset - from);
        into.limit(dataAt + offset - from + length);
        return true;
    }

    /**
     * The header, and so many of the chunk's bytes behind it, which then end where the limit is.
     *
     * @return where the header is
     */
    private static int read(
            ChunkLocation location, int headerBytes, int from, int bytes, ByteBuffer into)
            throws IOException {
        into.limit(from == 0 ? headerBytes + bytes : headerBytes);
        location.segment().read(into, location.offset());
        if (from > 0) {
            into.limit(headerBytes + bytes);
            location.segment().read(into, (long) location.offset() + headerBytes + from);
        }
        return 0;
    }

    /** The same, in whole blocks; only a header that is far from the bytes is read as ever. */
    private static int readBlocks(
            ChunkLocation location,
            int headerBytes,
            int from,
            int bytes,
            ByteBuffer into,
            DirectReads direct)
            throws IOException {
        int begin = location.offset() + (from == 0 ? 0 : headerBytes + from);
        int end = location.offset() + headerBytes + from + bytes;
        int firstBlock = begin & -SegmentFile.BLOCK_BYTES;
        int lastEnd = (end + SegmentFile.BLOCK_BYTES - 1) & -SegmentFile.BLOCK_BYTES;
        int base = 0;
        if (from > 0) {
            location.segment().read(into.limit(headerBytes), location.offset());
            base = SegmentFile.BLOCK_BYTES;
        }
        into.limit(base + lastEnd - firstBlock).position(base);
        direct.read(location.segment(), into, firstBlock);
        int endAt = base + end - firstBlock;
        into.limit(endAt).position(Math.min(into.position(), endAt));
        return from == 0 ? begin - firstBlock : 0;
    }

    /** The header of a chunk's record; null when it is gone or damaged. */
    static @Nullable ChunkRecord header(ChunkLocation location, ChunkKey key) throws IOException {
        ByteBuffer buffer = BufferPool.take(ChunkRecord.MAX_HEADER_BYTES);
        try {
            int headerBytes =
                    ChunkRecord.headerBytes(
                            ChunkRecord.homeBytes(location.home()), location.dataBytes());
            location.segment().read(buffer.limit(headerBytes), location.offset());
            ChunkRecord.Parsed parsed =
                    ChunkRecord.parse(
                            buffer.flip(), 0, location.segment().number(), location.offset());
            return parsed instanceof ChunkRecord.Parsed.Valid(ChunkRecord record)
                            && record.key().equals(key)
                    ? record
                    : null;
        } catch (ClosedChannelException e) {
            return null;
        } finally {
            BufferPool.give(buffer);
        }
    }
}
