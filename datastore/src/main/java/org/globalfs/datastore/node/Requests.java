package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.globalfs.datastore.wire.Frame;
import org.globalfs.datastore.wire.Opcode;

/**
 * What a server does with the requests of one connection, which come one after another. Answers go
 * out in the order of the requests.
 */
public interface Requests {
    /**
     * Answers a request, now or when {@link #settle} is called next.
     *
     * @param opcode neither HELLO nor PING, which the server answers itself
     * @param meta of no use once this returns, as is the payload
     * @throws IOException the connection is to be dropped
     */
    void handle(
            Frame.Header header,
            Opcode opcode,
            ByteBuffer meta,
            ByteBuffer payload,
            Replies replies)
            throws IOException;

    /** No other request has arrived yet: answers what is unanswered. */
    default void settle(Replies replies) throws IOException {}
}
