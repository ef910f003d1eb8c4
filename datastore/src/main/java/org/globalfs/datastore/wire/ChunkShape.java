package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;
import org.globalfs.protocol.discovery.BlockCode;

/**
 * What a chunk knows of its block, so that a node can rebuild it without asking the metadata: block
 * length, region, RS(k, m) and the placement epoch it was written in.
 */
public record ChunkShape(int blockBytes, int region, int dataChunks, int parityChunks, int epoch) {
    public static final int BYTES = 12;

    /**
     * Whether no block can be like that; whoever reads or makes one anew has memory of its size.
     */
    public boolean isNonsense() {
        return blockBytes < 1
                || blockBytes > Frame.MAX_PAYLOAD_BYTES
                || dataChunks < 1
                || dataChunks > BlockCode.MAX_DATA_CHUNKS
                || parityChunks < 1
                || parityChunks > BlockCode.MAX_PARITY_CHUNKS;
    }

    public void write(ByteBuffer to) {
        to.putInt(blockBytes);
        to.putShort((short) region);
        to.put((byte) dataChunks);
        to.put((byte) parityChunks);
        to.putInt(epoch);
    }

    public static ChunkShape read(ByteBuffer from) {
        return new ChunkShape(
                from.getInt(),
                from.getShort() & 0xffff,
                from.get() & 0xff,
                from.get() & 0xff,
                from.getInt());
    }
}
