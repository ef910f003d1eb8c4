package org.globalfs.oracle;

import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
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

/**
 * The oracle's own session with the metadata: causal reads from the nearest replica that answers.
 */
final class TreeReader implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TreeReader.class);
    private static final int WAIT_MS = 1_000;
    private static final long TIMEOUT_MS = 1_500;
    private static final int MOST_STEPS = 8;

    private final NearestReplicas nearest;
    private final long session = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    private final ConcurrentMap<HostPort, RpcClient> clients = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Long> seen = new ConcurrentHashMap<>();

    TreeReader(NearestReplicas nearest) {
        this.nearest = nearest;
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
        List<Topology.ReplicaSite> sites = nearest.of(partition);
        for (Topology.ReplicaSite site : sites) {
            ReadRequest request =
                    new ReadRequest(
                                    session,
                                    partition,
                                    new Credentials(0, 0),
                                    Consistency.CAUSAL,
                                    seen.getOrDefault(partition, 0L),
                                    seen.getOrDefault(Topology.GLOBAL, 0L),
                                    op)
                            .setWaitMs(WAIT_MS);
            try {
                RpcClient client =
                        clients.computeIfAbsent(site.rpc(), a -> new RpcClient(a.host(), a.port()));
                ReadReply reply = client.call(MetadataCalls.READ, request, TIMEOUT_MS);
                if (reply.getStatus() == Status.DONE || reply.getStatus() == Status.ESCALATE) {
                    advance(partition, reply.getPosition().getInstance());
                    if (reply.isSetGlobalSeen()) {
                        advance(Topology.GLOBAL, reply.getGlobalSeen());
                    }
                    return reply;
                }
            } catch (RpcException e) {
                LOG.debug("replica {}: {}", site.id(), e.getMessage());
            }
        }
        return null;
    }

    private void advance(int partition, long instance) {
        seen.merge(partition, instance, Math::max);
    }

    @Override
    public void close() {
        clients.values().forEach(RpcClient::close);
    }
}
