package org.globalfs.oracle;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.wire.Position;
import org.jspecify.annotations.Nullable;

/**
 * The oracle's own session with the metadata: its connections, and what it has seen. Thread-safe.
 */
final class Replicas implements AutoCloseable {

    private final NearestReplicas nearest;
    private final long session = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    private final ConcurrentMap<HostPort, RpcClient> clients = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Long> seen = new ConcurrentHashMap<>();

    Replicas(NearestReplicas nearest) {
        this.nearest = nearest;
    }

    NearestReplicas nearest() {
        return nearest;
    }

    long session() {
        return session;
    }

    RpcClient client(Topology.ReplicaSite site) {
        return clients.computeIfAbsent(site.rpc(), a -> new RpcClient(a.host(), a.port()));
    }

    /** The instance of the partition up to which this session has seen. */
    long seen(int partition) {
        return seen.getOrDefault(partition, 0L);
    }

    /** A reply came from there. */
    void saw(@Nullable Position position, long globalSeen) {
        if (position != null) {
            seen.merge(position.getPartition(), position.getInstance(), Math::max);
        }
        seen.merge(Topology.GLOBAL, globalSeen, Math::max);
    }

    @Override
    public void close() {
        clients.values().forEach(RpcClient::close);
    }
}
