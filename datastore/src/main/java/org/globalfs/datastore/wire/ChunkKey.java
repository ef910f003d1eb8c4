package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;
import org.globalfs.protocol.discovery.BlockCode;

/** Names a chunk: the block's id and which of its k + m chunks. */
public record ChunkKey(long idHigh, long idLow, int index) implements Comparable<ChunkKey> {
    public static final int BYTES = 17;

    /** Most chunks that a block may have. */
    public static final int MAX_CHUNKS = BlockCode.MAX_DATA_CHUNKS + BlockCode.MAX_PARITY_CHUNKS;

    @Override
    public int compareTo(ChunkKey other) {
        int order = Long.compareUnsigned(idHigh, other.idHigh);
        if (order == 0) {
            order = Long.compareUnsigned(idLow, other.idLow);
        }
        return order == 0 ? Integer.compare(index, other.index) : order;
    }

    public void write(ByteBuffer to) {
        to.putLong(idHigh).putLong(idLow).put((byte) index);
    }

    public static ChunkKey read(ByteBuffer from) {
        return new ChunkKey(from.getLong(), from.getLong(), from.get() & 0xff);
    }

    @Override
    public String toString() {
        return String.format("%016x%016x/%d", idHigh, idLow, index);
    }
}
