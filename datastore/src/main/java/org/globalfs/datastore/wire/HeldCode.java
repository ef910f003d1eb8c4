package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * How some of the chunks that a node holds are coded.
 *
 * @param region of their blocks; 0: all regions
 * @param chunks how many it holds
 */
public record HeldCode(int region, int dataChunks, int parityChunks, long chunks) {
    private static final int BYTES = Short.BYTES + 2 + Long.BYTES;

    /** The payload of a reply to STATS. */
    public static ByteBuffer write(List<HeldCode> codes) {
        ByteBuffer to = ByteBuffer.allocate(codes.size() * BYTES);
        for (HeldCode code : codes) {
            to.putShort((short) code.region);
            to.put((byte) code.dataChunks).put((byte) code.parityChunks);
            to.putLong(code.chunks);
        }
        return to.flip();
    }

    static List<HeldCode> read(ByteBuffer from) {
        List<HeldCode> codes = new ArrayList<>();
        while (from.remaining() >= BYTES) {
            codes.add(
                    new HeldCode(
                            from.getShort() & 0xffff,
                            from.get() & 0xff,
                            from.get() & 0xff,
                            from.getLong()));
        }
        return codes;
    }
}
