package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What an index has to say, found in the segments while they are in use. Append lock and index lock
 * held. As at a start, of two records of a chunk that live the newer one counts; there is none that
 * was torn.
 */
record SegmentRows(SegmentFolder files, SegmentStore.Options options) implements ChunkIndex.Rows {
    private static final Logger LOG = LoggerFactory.getLogger(SegmentRows.class);

    @Override
    public void each(ChunkIndex.Visitor visitor) throws IOException {
        ByteBuffer window = SegmentScan.newWindow();
        for (SegmentFile segment : files.all()) {
            SegmentScan.Found found = segment.look(options.cluster(), options.node(), window);
            if (found.unreadableBytes() > 0) {
                LOG.error(
                        "{}: the disk cannot read {} bytes, their chunks count as lost",
                        segment.path(),
                        found.unreadableBytes());
            }
            for (ChunkRecord record : found.records()) {
                if (record.live()) {
                    visitor.row(record.key(), row(segment, record));
                }
            }
        }
    }

    private static ChunkIndex.Row row(SegmentFile segment, ChunkRecord record) {
        return new ChunkLocation(
                        segment,
                        record.offset(),
                        record.recordBytes(),
                        record.dataBytes(),
                        record.shape(),
                        record.home())
                .row();
    }
}
