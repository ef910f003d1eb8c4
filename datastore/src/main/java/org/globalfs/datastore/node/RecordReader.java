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
        return ChunkRecord.MAX_HEADER_BYTES + length + 2 * ChunkRecord.PAGE_BYTES;
    }

    /**
     * A range of a chunk, then between position and limit of `into`.
     *
     * @return false: what stands there is not the chunk's record, or damaged
     * @throws ClosedChannelException the segment is gone
     */
    static boolean read(
            ChunkLocation location, ChunkKey key, int offset, int length, ByteBuffer into)
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
        into.clear();
        into.limit(from == 0 ? headerBytes + Math.max(0, to) : headerBytes);
        location.segment().read(into, location.offset());
        if (from > 0) {
            into.limit(headerBytes + to - from);
            location.segment().read(into, (long) location.offset() + headerBytes + from);
        }
        if (into.hasRemaining()) {
            return false; // the file ends before the record does
        }
        into.flip();
        ChunkRecord.Parsed parsed =
                ChunkRecord.parse(into, 0, location.segment().number(), location.offset());
        if (!(parsed instanceof ChunkRecord.Parsed.Valid(ChunkRecord record))
                || !record.live()
                || !record.key().equals(key)) {
            return false;
        }
        CRC32C crc = new CRC32C();
        for (int page = firstPage, at = from; at < to; page++, at += ChunkRecord.PAGE_BYTES) {
            int bytes = Math.min(ChunkRecord.PAGE_BYTES, to - at);
            crc.reset();
            crc.update(into.slice(headerBytes + at - from, bytes));
            if ((int) crc.getValue() != record.pageCrcs()[page]) {
                return false;
            }
        }
        into.position(headerBytes + offset - from);
        into.limit(headerBytes + offset - from + length);
        return true;
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
