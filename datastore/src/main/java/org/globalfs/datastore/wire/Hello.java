package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;

/**
 * The fields of the first request on a connection.
 *
 * @param node the node meant; empty: any
 * @param background what comes waits while others' requests wait for room
 */
public record Hello(int version, String cluster, String node, boolean background) {
    public Hello(String cluster, String node, boolean background) {
        this(Frame.PROTOCOL_VERSION, cluster, node, background);
    }

    public void write(ByteBuffer to) {
        to.putInt(version);
        Frame.writeString(to, cluster);
        Frame.writeString(to, node);
        to.put((byte) (background ? 1 : 0));
    }

    /** A client of an earlier version does not say whether it is in the background. */
    public static Hello read(ByteBuffer from) {
        return new Hello(
                from.getInt(),
                Frame.readString(from),
                Frame.readString(from),
                from.hasRemaining() && from.get() == 1);
    }
}
