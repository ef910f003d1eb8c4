package org.globalfs.replica.state;

import org.globalfs.protocol.wire.UpdateReply;

/**
 * Learns the outcome of commands, after the instance that decided them is committed. Called on the
 * delivering thread. Internal commands (session 0) are reported too. A coordinated command is
 * reported when it is decided, not when it is prepared; a duplicate of a command already answered
 * is reported again with the recorded reply.
 */
@FunctionalInterface
public interface ResultListener {

    void executed(long session, long sequence, UpdateReply reply);
}
