package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.util.Arrays;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkPages;
import org.jspecify.annotations.Nullable;

/**
 * Whole pages of a chunk where they stand on disk, not yet looked at.
 *
 * @param checksums CRC32C of each page, as its record has them
 */
record StoredPages(SegmentFile segment, long at, int bytes, int[] checksums) {

    /**
     * @return null: the range is none of whole pages, or the record cannot be relied on
     */
    static @Nullable StoredPages of(ChunkLocation location, ChunkKey key, int offset, int length)
            throws IOException {
        if (!ChunkPages.areWhole(offset, length, location.dataBytes())) {
            return null;
        }
        ChunkRecord record = RecordReader.header(location, key);
        if (record == null || !record.live() || record.dataBytes() != location.dataBytes()) {
            return null;
        }
        int first = offset / ChunkPages.PAGE_BYTES;
        long at = (long) location.offset() + record.headerBytes() + offset;
        location.segment().willTransfer(at, length);
        return new StoredPages(
                location.segment(),
                at,
                length,
                Arrays.copyOfRange(record.pageCrcs(), first, first + ChunkPages.count(length)));
    }

    /**
     * Sends what stands from a byte of the range on, without copying it.
     *
     * @return how many bytes; 0: the file ends there
     */
    long transfer(int from, int most, WritableByteChannel to) throws IOException {
        return segment.transfer(at + from, Math.min(most, bytes - from), to);
    }
}
