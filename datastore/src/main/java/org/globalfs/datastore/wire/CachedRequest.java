package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;

/**
 * The fields of {@link Opcode#CACHED}.
 *
 * @param wanted chunks that suffice, if all of them are there: a bit by chunk index
 * @param from the first byte asked for of each chunk
 * @param to the end of those bytes
 */
public record CachedRequest(
        long idHigh, long idLow, ChunkShape shape, long wanted, int from, int to) {

    public void write(ByteBuffer buffer) {
        buffer.putLong(idHigh).putLong(idLow);
        shape.write(buffer);
        buffer.putLong(wanted).putInt(from).putInt(to);
    }

    public static CachedRequest read(ByteBuffer buffer) {
        return new CachedRequest(
                buffer.getLong(),
                buffer.getLong(),
                ChunkShape.read(buffer),
                buffer.getLong(),
                buffer.getInt(),
                buffer.getInt());
    }

    /** Whether no block can be like that. */
    public boolean isNonsense() {
        int chunks = shape.dataChunks() + shape.parityChunks();
        return shape.isNonsenseAnywhere()
                || wanted == 0
                || Long.bitCount(wanted) > shape.dataChunks()
                || wanted >>> chunks != 0
                || from < 0
                || to <= from
                || (long) (to - from) * shape.dataChunks() > Frame.MAX_PAYLOAD_BYTES;
    }
}
