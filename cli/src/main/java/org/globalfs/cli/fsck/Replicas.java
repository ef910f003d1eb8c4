package org.globalfs.cli.fsck;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.CheckReply;
import org.globalfs.protocol.wire.CheckRequest;
import org.globalfs.protocol.wire.RingStatus;
import org.globalfs.protocol.wire.StatusRequest;
import org.jspecify.annotations.Nullable;

/**
 * The replicas of all partitions, and how far they were when they were asked: a partition is
 * checked by one that has executed what any other had by then. One that is behind knows nothing of
 * what a client was told is done, and what other partitions say of that would be faults.
 */
final class Replicas {
    private static final int CONNECT_MS = 4_000;
    private static final int STATUS_MS = 4_000;

    /** The replica reads every record; a person waits, and can give up. */
    private static final int CHECK_MS = 1_800_000;

    private final Topology topology;

    /** What was executed, by partition and replica; only of those that answered. */
    private final Map<Integer, Map<Integer, Long>> executed = new HashMap<>();

    private Replicas(Topology topology) {
        this.topology = topology;
    }

    /** Asks all at once how far they are. */
    static Replicas find(Topology topology) throws Failure, InterruptedException {
        Replicas replicas = new Replicas(topology);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Map<Integer, Future<List<RingStatus>>> answers = new TreeMap<>();
            for (Topology.ReplicaSite site : topology.replicas()) {
                answers.put(site.id(), threads.submit(() -> rings(site)));
            }
            for (Map.Entry<Integer, Future<List<RingStatus>>> answer : answers.entrySet()) {
                for (RingStatus ring : answer.getValue().get()) {
                    // One that was removed from its ring does not check for it.
                    if (!ring.isSetServes() || ring.isServes()) {
                        replicas.executed
                                .computeIfAbsent(ring.getRing(), key -> new HashMap<>())
                                .put(answer.getKey(), ring.getApplied());
                    }
                }
            }
        } catch (ExecutionException e) {
            throw new Failure(ExitCode.FAILED, "asking a replica failed", e);
        }
        return replicas;
    }

    /** None of one that does not answer: others of its partitions may. */
    private static List<RingStatus> rings(Topology.ReplicaSite site) {
        try (RpcClient client = client(site)) {
            return client.call(MetadataCalls.STATUS, new StatusRequest(), STATUS_MS).getRings();
        } catch (RpcException e) {
            return List.of();
        }
    }

    private static RpcClient client(Topology.ReplicaSite site) {
        return new RpcClient(
                site.rpc().host(),
                site.rpc().port(),
                CONNECT_MS,
                RpcServer.DEFAULT_MAX_FRAME_BYTES);
    }

    /**
     * Has a replica of the partition check its records.
     *
     * @throws Failure none answers, or only such as do not catch up with the others
     */
    CheckReply check(int partition, String name) throws Failure {
        Map<Integer, Long> told = executed.getOrDefault(partition, Map.of());
        long minimum = told.values().stream().mapToLong(Long::longValue).max().orElse(0);
        String trouble = "it has no replicas";
        @Nullable String behind = null;
        for (Topology.ReplicaSite site : topology.replicas()) {
            boolean holds =
                    partition == Topology.GLOBAL
                            || topology.regionOf(site.id()).partition() == partition;
            if (!holds) {
                continue;
            }
            long before = told.getOrDefault(site.id(), minimum);
            try (RpcClient client = client(site)) {
                CheckReply reply = check(client, partition, minimum);
                before = reply.getPosition().getInstance();
                if (before >= minimum) {
                    return reply;
                }
            } catch (RpcException e) {
                trouble = String.valueOf(e.getMessage());
            }
            if (before < minimum) {
                behind =
                        "replica %d is behind: it has executed %d of %d instances"
                                .formatted(site.id(), before, minimum);
            }
        }
        throw new Failure(
                ExitCode.FAILED,
                behind != null
                        ? "partition %d %s cannot be checked: %s".formatted(partition, name, behind)
                        : "no replica of partition %d %s answers: %s"
                                .formatted(partition, name, trouble));
    }

    private static CheckReply check(RpcClient client, int partition, long minimum)
            throws RpcException {
        CheckRequest request = new CheckRequest(partition).setPaged(true).setMinimum(minimum);
        CheckReply whole = client.call(MetadataCalls.CHECK, request, CHECK_MS);
        for (CheckReply part = whole; part.isSetNextOffset(); ) {
            request.setId(part.getId()).setOffset(part.getNextOffset());
            part = client.call(MetadataCalls.CHECK, request, CHECK_MS);
            whole.getForeign().addAll(part.getForeign());
            whole.getUnexplained().addAll(part.getUnexplained());
            whole.getHanging().addAll(part.getHanging());
            whole.getHeld().addAll(part.getHeld());
        }
        return whole;
    }
}
