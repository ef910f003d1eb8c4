package org.globalfs.multicast.transport;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.globalfs.multicast.wire.WireException;

/**
 * Frames on a connection: length of the body, CRC32C of the body, body.
 * docs/formats/multicast-wire.md has the table.
 */
final class Frames {
    static final int HEADER_BYTES = 8;

    /** Larger than any message: see {@link org.globalfs.multicast.core.Message.Promise}. */
    static final int MAX_BODY_BYTES = 256 << 20;

    /** Holds a greeting, or why there is none; so much is read of whoever is not greeted yet. */
    static final int GREETING_BYTES = 70_000;

    /** Kinds of body. */
    static final byte HELLO = 1;

    static final byte REFUSED = 2;
    static final byte PING = 3;
    static final byte RING_MESSAGE = 4;

    private final CRC32C crc = new CRC32C();

    /** Leaves room for the header; {@link #end} fills it in. */
    static int begin(ByteBuffer to) {
        int start = to.position();
        to.position(start + HEADER_BYTES);
        return start;
    }

    void end(ByteBuffer to, int start) {
        int end = to.position();
        to.putInt(start, end - start - HEADER_BYTES);
        to.putInt(start + 4, checksum(to, start + HEADER_BYTES, end));
    }

    /**
     * Length of the whole frame at the buffer's position, or -1 while even its header is
     * incomplete.
     *
     * @param maxBodyBytes a longer one is refused
     */
    static int frameBytes(ByteBuffer in, int maxBodyBytes) throws WireException {
        if (in.remaining() < HEADER_BYTES) {
            return -1;
        }
        int body = in.getInt(in.position());
        if (body <= 0 || body > maxBodyBytes) {
            throw new WireException("a frame of " + body + " bytes");
        }
        return HEADER_BYTES + body;
    }

    void check(ByteBuffer in, int start, int frameBytes) throws WireException {
        if (in.getInt(start + 4) != checksum(in, start + HEADER_BYTES, start + frameBytes)) {
            throw new WireException("a frame with a wrong checksum");
        }
    }

    private int checksum(ByteBuffer in, int from, int to) {
        int position = in.position();
        int limit = in.limit();
        in.limit(to).position(from);
        crc.reset();
        crc.update(in);
        in.limit(limit).position(position);
        return (int) crc.getValue();
    }
}
