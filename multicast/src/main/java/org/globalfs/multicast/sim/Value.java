package org.globalfs.multicast.sim;

import java.nio.ByteBuffer;

/**
 * What is proposed: a session's numbered write, or, with session 0, a value that nobody waits for.
 */
record Value(int session, int sequence) {

    static final int NOBODY = 0;

    static Value of(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        return new Value(buffer.getInt(), buffer.getInt());
    }

    byte[] bytes() {
        return ByteBuffer.allocate(8).putInt(session).putInt(sequence).array();
    }

    long id() {
        return (long) session << 32 | sequence;
    }
}
