package org.globalfs.datastore.node;

import org.globalfs.datastore.wire.ChunkShape;
import org.jspecify.annotations.Nullable;

/**
 * Where a chunk is.
 *
 * @param home the node that it is kept for; null: it belongs here
 */
public record ChunkLocation(
        SegmentFile segment,
        int offset,
        int recordBytes,
        int dataBytes,
        ChunkShape shape,
        @Nullable String home) {

    ChunkIndex.Row row() {
        return new ChunkIndex.Row(segment.number(), offset, recordBytes, dataBytes, shape, home);
    }

    boolean isNewerThan(ChunkLocation other) {
        int order = Integer.compare(segment.number(), other.segment.number());
        return order > 0 || order == 0 && offset > other.offset;
    }
}
