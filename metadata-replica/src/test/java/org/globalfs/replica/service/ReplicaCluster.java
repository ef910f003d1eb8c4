package org.globalfs.replica.service;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Durability;
import org.globalfs.protocol.config.Rings;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.HashReply;
import org.globalfs.protocol.wire.HashRequest;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.RingStatus;
import org.globalfs.protocol.wire.StatusRequest;

/** Regions of three replicas each in one JVM, on real sockets and folders. */
final class ReplicaCluster implements AutoCloseable {

    static final Duration LONG = Duration.ofSeconds(60);

    final Topology topology;
    final InMemoryDiscovery discovery = new InMemoryDiscovery();
    final Path folder;
    final ReplicaOptions options;
    final Map<Integer, ReplicaServer> running = new TreeMap<>();
    final List<Throwable> fatal = new CopyOnWriteArrayList<>();
    final List<BlockRef> deleted = new CopyOnWriteArrayList<>();

    /** Of replicas that are started from now on. */
    DiskReserve reserve = DiskReserve.exactly(0);

    private final Map<Integer, RpcClient> clients = new HashMap<>();

    ReplicaCluster(Path folder, int regions, ReplicaOptions options) throws IOException {
        this.folder = folder;
        this.options = options;
        List<Topology.Region> list = new ArrayList<>();
        int id = 1;
        for (int region = 1; region <= regions; region++) {
            List<Topology.ReplicaSite> sites = new ArrayList<>();
            for (int datacenter = 1; datacenter <= 3; datacenter++) {
                sites.add(
                        new Topology.ReplicaSite(id++, "dc" + datacenter, freePort(), freePort()));
            }
            list.add(new Topology.Region("region" + region, region, sites));
        }
        topology = new Topology("test", list);
    }

    private static HostPort freePort() throws IOException {
        return new HostPort("127.0.0.1", FreePorts.one());
    }

    ReplicaCluster startAll() throws IOException {
        for (Topology.ReplicaSite site : topology.replicas()) {
            start(site.id());
        }
        return this;
    }

    ReplicaConfig config(int id) {
        return new ReplicaConfig(
                topology,
                id,
                folderOf(id),
                "127.0.0.1",
                Durability.DISK,
                Rings.DEFAULTS,
                reserve,
                options);
    }

    Path folderOf(int id) {
        return folder.resolve("replica-" + id);
    }

    ReplicaServer start(int id) throws IOException {
        ReplicaServer server = ReplicaServer.start(config(id), discovery, this::delete, fatal::add);
        running.put(id, server);
        return server;
    }

    void crash(int id) {
        running.remove(id).abandon();
    }

    void stop(int id) {
        running.remove(id).close();
    }

    synchronized RpcClient client(int id) {
        HostPort address = topology.replica(id).rpc();
        return clients.computeIfAbsent(id, i -> new RpcClient(address.host(), address.port()));
    }

    RingStatus status(int id, int ring) throws RpcException {
        ReplicaStatus status = client(id).call(MetadataCalls.STATUS, new StatusRequest(), 5_000);
        return status.getRings().stream()
                .filter(r -> r.getRing() == ring)
                .findFirst()
                .orElseThrow();
    }

    /** The replica that coordinates the ring in the eyes of a running member. */
    int coordinator(int ring) {
        int[] found = {-1};
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(20))
                .ignoreExceptions()
                .until(() -> {
                    for (int member : topology.members(ring)) {
                        if (running.containsKey(member)) {
                            int coordinator = status(member, ring).getCoordinator();
                            if (running.containsKey(coordinator)
                                    && status(coordinator, ring).getCoordinator() == coordinator) {
                                found[0] = coordinator;
                                return true;
                            }
                        }
                    }
                    return false;
                });
        return found[0];
    }

    /**
     * Waits until every running replica of every partition stands at the same instance with the
     * same hash.
     */
    void awaitEqualHashes() {
        for (int partition = 0; partition <= topology.regions().size(); partition++) {
            int p = partition;
            await("equal hashes of partition " + p)
                    .atMost(LONG)
                    .pollInterval(Duration.ofMillis(100))
                    .ignoreExceptions()
                    .until(() -> hashesEqual(p));
        }
    }

    private boolean hashesEqual(int partition) throws RpcException {
        long minimum = 0;
        for (int id : topology.members(partition)) {
            if (running.containsKey(id)) {
                minimum = Math.max(minimum, status(id, partition).getApplied());
            }
        }
        Map<Long, ByteBuffer> byInstance = new HashMap<>();
        int replicas = 0;
        for (int id : topology.members(partition)) {
            if (running.containsKey(id)) {
                HashReply reply =
                        client(id)
                                .call(
                                        MetadataCalls.STATE_HASH,
                                        new HashRequest(partition).setMinimum(minimum),
                                        30_000);
                ByteBuffer hash = ByteBuffer.wrap(reply.getHash());
                ByteBuffer other = byInstance.putIfAbsent(reply.getPosition().getInstance(), hash);
                if (other != null && !other.equals(hash)) {
                    throw new AssertionError(
                            "replica "
                                    + id
                                    + " differs in partition "
                                    + partition
                                    + " at "
                                    + reply.getPosition());
                }
                replicas++;
            }
        }
        return replicas > 0 && byInstance.size() == 1;
    }

    @Override
    public void close() {
        clients.values().forEach(RpcClient::close);
        List.copyOf(running.values()).forEach(ReplicaServer::close);
        if (!fatal.isEmpty()) {
            throw new AssertionError("a replica failed", fatal.get(0));
        }
    }

    private List<BlockRef> delete(List<BlockRef> blocks) {
        deleted.addAll(blocks);
        return blocks;
    }
}
