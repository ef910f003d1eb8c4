package org.globalfs.client.meta;

import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RecallReply;
import org.globalfs.protocol.wire.RecallRequest;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;

/** One attempt of one call to one replica: the seam between routing and the network. */
public interface ReplicaCalls extends AutoCloseable {

    UpdateReply update(Replica replica, UpdateRequest request, long timeoutMs)
            throws NoReplyException;

    ReadReply read(Replica replica, ReadRequest request, long timeoutMs) throws NoReplyException;

    RecallReply recalls(Replica replica, RecallRequest request, long timeoutMs)
            throws NoReplyException;

    @Override
    void close();
}
