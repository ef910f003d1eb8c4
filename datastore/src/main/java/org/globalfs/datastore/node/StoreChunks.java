package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.globalfs.datastore.client.OwnChunks;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;

/** What a node's store holds, for the node itself. */
record StoreChunks(String node, SegmentStore store) implements OwnChunks {
    @Override
    public boolean read(ChunkKey key, int offset, int length, byte[] into, int at)
            throws IOException {
        ByteBuffer buffer = BufferPool.take(SegmentStore.readRoom(length));
        try {
            boolean read = store.read(key, offset, length, buffer) == ChunkStatus.OK;
            if (read) {
                buffer.get(into, at, length);
            }
            return read;
        } finally {
            BufferPool.give(buffer);
        }
    }
}
