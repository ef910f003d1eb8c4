package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.Collection;
import java.util.TreeSet;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateReply;

/** The forms an update's outcome takes. RETRY is never recorded in the session table. */
public final class Replies {

    private Replies() {}

    public static UpdateReply done() {
        return new UpdateReply(Status.DONE, 0);
    }

    public static UpdateReply failed(Errno errno) {
        return new UpdateReply(Status.DONE, errno.number());
    }

    /** A record is locked by a coordinated operation that will end soon. */
    public static UpdateReply retry() {
        return new UpdateReply(Status.RETRY, 0);
    }

    /** The operation touches these partitions; a single one executes it alone. */
    public static UpdateReply escalate(Collection<Integer> participants) {
        UpdateReply reply = new UpdateReply(Status.ESCALATE, 0);
        reply.setParticipants(new ArrayList<>(new TreeSet<>(participants)));
        return reply;
    }
}
