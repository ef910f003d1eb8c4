package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.protocol.discovery.BlockCode;
import org.globalfs.protocol.wire.BlockRef;

/**
 * What a chunk knows of its block, so that a node can rebuild it without asking the metadata: block
 * length, region, RS(k, m) and the placement epoch it was written in.
 */
public record ChunkShape(int blockBytes, int region, int dataChunks, int parityChunks, int epoch) {
    public static final int BYTES = 12;

    public static ChunkShape of(BlockRef ref) {
        return new ChunkShape(
                ref.getLength(),
                ref.getRegion(),
                ref.getDataChunks(),
                ref.getParityChunks(),
                ref.getEpoch());
    }

    /**
     * Whether no block on storage nodes can be like that; whoever reads or makes one anew has
     * memory of its size.
     */
    public boolean isNonsense() {
        return parityChunks < 1 || isNonsenseAnywhere();
    }

    /** Whether no block can be like that wherever it is kept: in a bucket it may be uncoded. */
    public boolean isNonsenseAnywhere() {
        return blockBytes < 1
                || blockBytes > Frame.MAX_PAYLOAD_BYTES
                || dataChunks < 1
                || dataChunks > BlockCode.MAX_DATA_CHUNKS
                || parityChunks < 0
                || parityChunks > BlockCode.MAX_PARITY_CHUNKS
                || parityChunks == 0 && dataChunks > 1;
    }

    /** Bytes of each chunk; that of an uncoded block is its content, and nothing else. */
    public int chunkBytes() {
        return parityChunks == 0 ? blockBytes : ReedSolomon.chunkBytes(blockBytes, dataChunks);
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
