package org.globalfs.oracle;

import java.util.List;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.Status;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Causal reads, as root, from the nearest replica that answers. Thread-safe. */
final class TreeReader {

    private static final Logger LOG = LoggerFactory.getLogger(TreeReader.class);
    private static final int WAIT_MS = 1_000;
    private static final long TIMEOUT_MS = 1_500;
    private static final int MOST_STEPS = 8;

    private final Replicas replicas;

    TreeReader(Replicas replicas) {
        this.replicas = replicas;
    }

    /** What a partition answered. */
    record Read(int partition, ReadReply reply) {}

    /**
     * Asks where the inode may be, and goes on to where it is; null when no replica of a partition
     * answers.
     */
    @Nullable Read read(int partition, ReadOp op) {
        int at = partition;
        for (int step = 0; step < MOST_STEPS; step++) {
            ReadReply reply = ask(at, op);
            if (reply == null) {
                return null;
            }
            if (reply.getStatus() == Status.DONE) {
                return new Read(at, reply);
            }
            at = reply.getHomes().values().iterator().next();
        }
        return null; // it moves faster than we ask
    }

    private @Nullable ReadReply ask(int partition, ReadOp op) {
        List<Topology.ReplicaSite> sites = replicas.nearest().of(partition);
        for (Topology.ReplicaSite site : sites) {
            ReadRequest request =
                    new ReadRequest(
                                    replicas.session(),
                                    partition,
                                    new Credentials(0, 0),
                                    Consistency.CAUSAL,
                                    replicas.seen(partition),
                                    replicas.seen(Topology.GLOBAL),
                                    op)
                            .setWaitMs(WAIT_MS);
            try {
                ReadReply reply =
                        replicas.client(site).call(MetadataCalls.READ, request, TIMEOUT_MS);
                if (reply.getStatus() == Status.DONE || reply.getStatus() == Status.ESCALATE) {
                    replicas.saw(
                            reply.getPosition(),
                            reply.isSetGlobalSeen() ? reply.getGlobalSeen() : 0);
                    return reply;
                }
            } catch (RpcException e) {
                LOG.debug("replica {}: {}", site.id(), e.getMessage());
            }
        }
        return null;
    }
}
