package org.globalfs.replica.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.Status;
import org.globalfs.replica.state.model.Partitions;

/** The states of all partitions of a test's cluster, one each, and reads of them. */
public interface PartitionStates {

    PartitionState state(int partition);

    /** Where the inode lives. */
    default int home(long ino) {
        return state(0).home(ino);
    }

    default ReadReply read(int partition, Credentials credentials, ReadOp op) {
        return state(partition)
                .read(new ReadRequest(1, partition, credentials, Consistency.CAUSAL, 0, 0, op));
    }

    default ReadReply read(int partition, int uid, ReadOp op) {
        return read(partition, new Credentials(uid, uid), op);
    }

    /** Reads where the inode asked about lives, as a client that knows nothing of it finds it. */
    default ReadReply readAt(long ino, int uid, ReadOp op) {
        int partition = Partitions.ofBirth(ino);
        ReadReply reply = read(partition, uid, op);
        for (int step = 0; step < 2 && reply.getStatus() == Status.ESCALATE; step++) {
            partition = Objects.requireNonNull(reply.getHomes().get(ino));
            reply = read(partition, uid, op);
        }
        assertThat(reply.getStatus()).as("read of %x", ino).isEqualTo(Status.DONE);
        return reply;
    }
}
