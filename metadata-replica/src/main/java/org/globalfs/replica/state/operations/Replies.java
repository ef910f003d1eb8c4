package org.globalfs.replica.state.operations;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
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

    /** Another partition has the inode, or knows who has. */
    public static UpdateReply elsewhere(Homes homes, long ino) {
        int home = homes.of(ino);
        return escalate(List.of(home)).setHomes(Map.of(ino, home));
    }

    /** The operation touches these partitions; a single one executes it alone. */
    public static UpdateReply escalate(Collection<Integer> participants) {
        UpdateReply reply = new UpdateReply(Status.ESCALATE, 0);
        reply.setParticipants(new ArrayList<>(new TreeSet<>(participants)));
        return reply;
    }
}
