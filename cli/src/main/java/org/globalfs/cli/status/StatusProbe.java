package org.globalfs.cli.status;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.datastore.wire.NodeStatistics;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.OracleCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.HashReply;
import org.globalfs.protocol.wire.HashRequest;
import org.globalfs.protocol.wire.LocateRequest;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.RingStatus;
import org.globalfs.protocol.wire.StatusRequest;

/** Asks every process of a cluster at once; one that does not answer in time counts as down. */
public final class StatusProbe {
    private static final int ANSWER_MS = 1_000;
    private static final int HASH_MS = 10_000;

    private final Expected expected;

    public StatusProbe(Expected expected) {
        this.expected = expected;
    }

    /** One round of questions. */
    public ClusterStatus ask(boolean hashes) throws Failure {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Map<Integer, Future<ClusterStatus.Replica>> replicas = new TreeMap<>();
            for (Topology.ReplicaSite site : expected.topology().replicas()) {
                replicas.put(site.id(), threads.submit(() -> replica(site)));
            }
            Map<String, Future<ClusterStatus.Oracle>> oracles = new TreeMap<>();
            expected.oracles()
                    .forEach((region, at) -> oracles.put(region, threads.submit(() -> oracle(at))));
            List<Future<ClusterStatus.Storage>> storage =
                    all(threads, expected.storage().stream().map(this::storage).toList());

            Map<Integer, ClusterStatus.Replica> answers = new TreeMap<>();
            for (Map.Entry<Integer, Future<ClusterStatus.Replica>> entry : replicas.entrySet()) {
                answers.put(entry.getKey(), get(entry.getValue()));
            }
            if (hashes) {
                answers = withHashes(threads, answers);
            }
            List<ClusterStatus.Storage> nodes = new ArrayList<>();
            for (Future<ClusterStatus.Storage> future : storage) {
                nodes.add(get(future));
            }
            List<ClusterStatus.Region> regions = new ArrayList<>();
            for (Topology.Region region : expected.topology().regions()) {
                Future<ClusterStatus.Oracle> oracle = oracles.get(region.name());
                regions.add(
                        region(
                                region,
                                answers,
                                nodes,
                                oracle == null ? Optional.empty() : Optional.of(get(oracle))));
            }
            return new ClusterStatus(expected.topology().cluster(), regions);
        }
    }

    private ClusterStatus.Region region(
            Topology.Region region,
            Map<Integer, ClusterStatus.Replica> replicas,
            List<ClusterStatus.Storage> nodes,
            Optional<ClusterStatus.Oracle> oracle) {
        List<ClusterStatus.Replica> own = new ArrayList<>();
        region.replicas()
                .forEach(site -> Optional.ofNullable(replicas.get(site.id())).ifPresent(own::add));
        List<ClusterStatus.Storage> ownNodes = new ArrayList<>();
        for (int i = 0; i < nodes.size(); i++) {
            if (expected.storage().get(i).region().equals(region.name())) {
                ownNodes.add(nodes.get(i));
            }
        }
        return new ClusterStatus.Region(
                region.name(),
                region.partition(),
                own,
                ownNodes,
                oracle,
                expected.mounts().getOrDefault(region.name(), List.of()));
    }

    private ClusterStatus.Replica replica(Topology.ReplicaSite site) {
        try (RpcClient client = client(site.rpc())) {
            ReplicaStatus status =
                    client.call(MetadataCalls.STATUS, new StatusRequest(), ANSWER_MS);
            List<ClusterStatus.Ring> rings = new ArrayList<>();
            for (RingStatus ring : status.getRings()) {
                rings.add(
                        new ClusterStatus.Ring(
                                ring.getRing(),
                                ring.getGeneration(),
                                ring.isServes(),
                                ring.getCoordinator(),
                                ring.getDecided(),
                                ring.getApplied(),
                                ring.getImported(),
                                ring.getCheckpointed(),
                                ring.isRejoining(),
                                Optional.empty()));
            }
            Optional<ClusterStatus.Room> disk =
                    status.isSetFreeBytes()
                            ? Optional.of(
                                    new ClusterStatus.Room(
                                            status.getFreeBytes(),
                                            status.getReservedBytes(),
                                            status.isFull()))
                            : Optional.empty();
            return new ClusterStatus.Replica(
                    site.id(), site.datacenter(), site.rpc(), true, rings, disk);
        } catch (RpcException e) {
            return new ClusterStatus.Replica(
                    site.id(), site.datacenter(), site.rpc(), false, List.of(), Optional.empty());
        }
    }

    /**
     * All of a ring are asked for the state at the instance that the furthest had applied, or
     * later.
     */
    private Map<Integer, ClusterStatus.Replica> withHashes(
            ExecutorService threads, Map<Integer, ClusterStatus.Replica> replicas) throws Failure {
        Map<Integer, Long> furthest = new TreeMap<>();
        for (ClusterStatus.Replica replica : replicas.values()) {
            replica.rings().forEach(ring -> furthest.merge(ring.ring(), ring.applied(), Math::max));
        }
        Map<Integer, Future<ClusterStatus.Replica>> asked = new TreeMap<>();
        replicas.forEach(
                (id, replica) -> asked.put(id, threads.submit(() -> hashed(replica, furthest))));
        Map<Integer, ClusterStatus.Replica> answered = new TreeMap<>();
        for (Map.Entry<Integer, Future<ClusterStatus.Replica>> entry : asked.entrySet()) {
            answered.put(entry.getKey(), get(entry.getValue()));
        }
        return answered;
    }

    private static ClusterStatus.Replica hashed(
            ClusterStatus.Replica replica, Map<Integer, Long> furthest) {
        List<ClusterStatus.Ring> rings = new ArrayList<>();
        try (RpcClient client = client(replica.address())) {
            for (ClusterStatus.Ring ring : replica.rings()) {
                HashRequest request = new HashRequest(ring.ring());
                request.setMinimum(furthest.getOrDefault(ring.ring(), ring.applied()));
                try {
                    HashReply reply = client.call(MetadataCalls.STATE_HASH, request, HASH_MS);
                    rings.add(
                            ring.withHash(
                                    new ClusterStatus.Hash(
                                            HexFormat.of().formatHex(reply.getHash()),
                                            reply.getPosition().getInstance())));
                } catch (RpcException e) {
                    rings.add(ring);
                }
            }
        }
        return new ClusterStatus.Replica(
                replica.id(),
                replica.datacenter(),
                replica.address(),
                replica.alive(),
                rings,
                replica.disk());
    }

    private Callable<ClusterStatus.Storage> storage(Expected.Node node) {
        return () -> {
            try (StorageConnection connection =
                    new StorageConnection(
                            node.address(), expected.topology().cluster(), node.id(), ANSWER_MS)) {
                NodeStatistics statistics = connection.statistics();
                return new ClusterStatus.Storage(
                        node.id(),
                        node.datacenter(),
                        node.address(),
                        true,
                        statistics.usedBytes(),
                        statistics.capacityBytes());
            } catch (IOException e) {
                return new ClusterStatus.Storage(
                        node.id(), node.datacenter(), node.address(), false, 0, 0);
            }
        };
    }

    private static ClusterStatus.Oracle oracle(HostPort address) {
        try (RpcClient client = client(address)) {
            LocateRequest request = new LocateRequest();
            request.setPath(ByteBuffer.wrap("/".getBytes(StandardCharsets.UTF_8)));
            client.call(OracleCalls.LOCATE, request, ANSWER_MS);
            return new ClusterStatus.Oracle(address, true);
        } catch (RpcException e) {
            return new ClusterStatus.Oracle(address, e.outcome() == RpcException.Outcome.REFUSED);
        }
    }

    private static RpcClient client(HostPort address) {
        return new RpcClient(
                address.host(), address.port(), ANSWER_MS, RpcServer.DEFAULT_MAX_FRAME_BYTES);
    }

    private static <T> List<Future<T>> all(ExecutorService threads, List<Callable<T>> questions) {
        return questions.stream().map(threads::submit).toList();
    }

    private static <T> T get(Future<T> future) throws Failure {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw new Failure(ExitCode.FAILED, "asking a process failed", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Failure(ExitCode.FAILED, "interrupted", e);
        }
    }
}
