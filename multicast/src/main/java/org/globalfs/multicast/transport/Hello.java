package org.globalfs.multicast.transport;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.globalfs.multicast.wire.WireException;
import org.jspecify.annotations.Nullable;

/** First frame in both directions of a connection. */
record Hello(int version, String cluster, int from, int to) {
    static final int VERSION = 2;
    private static final int MAGIC = 0x47464D43; // "GFMC"

    /** Of a stranger's words, which are told again in answers and logs. */
    private static final int MOST_HEARD_BYTES = 1_024;

    void encode(ByteBuffer out) {
        out.put(Frames.HELLO).putInt(MAGIC).putInt(version).putInt(from).putInt(to);
        putText(out, cluster);
    }

    static Hello decode(ByteBuffer in) throws WireException {
        try {
            if (in.getInt() != MAGIC) {
                throw new WireException("a greeting that is not GlobalFS's");
            }
            int version = in.getInt();
            int from = in.getInt();
            int to = in.getInt();
            return new Hello(version, text(in), from, to);
        } catch (BufferUnderflowException e) {
            throw new WireException("a greeting that ends early");
        }
    }

    /** Why a connection with this greeting must not go on, or null. */
    @Nullable String refusal(String ownCluster, int self) {
        if (version != VERSION) {
            return "it speaks multicast protocol "
                    + version
                    + ", this replica "
                    + VERSION
                    + ": run the same GlobalFS release on both";
        }
        if (!cluster.equals(ownCluster)) {
            return "it belongs to cluster '"
                    + cluster
                    + "', this replica to '"
                    + ownCluster
                    + "': check the ring addresses in the topology";
        }
        if (to != self) {
            return "it took this replica for number "
                    + to
                    + ", but it is number "
                    + self
                    + ": check the ring addresses in the topology";
        }
        return null;
    }

    static void putText(ByteBuffer out, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.putShort((short) bytes.length).put(bytes);
    }

    /**
     * As much of it as is there and one would read: what is refused is, whatever the reason. Bytes
     * that are no text become three each.
     */
    static String text(ByteBuffer in) {
        if (in.remaining() < 2) {
            return "";
        }
        int said = Math.min(Short.toUnsignedInt(in.getShort()), in.remaining());
        byte[] bytes = new byte[Math.min(said, MOST_HEARD_BYTES)];
        in.get(bytes);
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
