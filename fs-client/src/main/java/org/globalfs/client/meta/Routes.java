package org.globalfs.client.meta;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * Where to send: the replicas of each partition, nearest first, with those that failed a moment ago
 * last, and the last known coordinator of each partition.
 */
final class Routes {

    /**
     * After a broken connection the process is left alone for so long, unless nobody else is left.
     */
    private static final long SUSPICION_NS = 1_000_000_000L;

    private final ReplicaDirectory directory;
    private final String region;
    private final @Nullable String datacenter;
    private final ConcurrentMap<Integer, Integer> coordinators = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Suspicion> suspicions = new ConcurrentHashMap<>();

    /** Until when others of the same region are preferred. */
    private final ConcurrentMap<Integer, Long> cutOff = new ConcurrentHashMap<>();

    private record Suspicion(long untilNs, NoReplyException.Kind kind) {}

    Routes(ReplicaDirectory directory, String region, @Nullable String datacenter) {
        this.directory = directory;
        this.region = region;
        this.datacenter = datacenter;
    }

    /** The replicas that hold the partition, best first; empty while none is known. */
    List<Replica> candidates(int partition) {
        List<Replica> result = new ArrayList<>();
        for (Replica replica : directory.replicas()) {
            if (partition == 0 || replica.partition() == partition) {
                result.add(replica);
            }
        }
        result.sort(
                Comparator.comparingInt((Replica replica) -> suspected(replica.id()) ? 1 : 0)
                        .thenComparingInt(replica -> replica.region().equals(region) ? 0 : 1)
                        .thenComparingInt(replica -> isCutOff(replica.id()) ? 1 : 0)
                        .thenComparingInt(this::distance)
                        .thenComparingInt(Replica::id));
        return result;
    }

    private int distance(Replica replica) {
        if (!replica.region().equals(region)) {
            return 2;
        }
        return datacenter == null || datacenter.equals(replica.datacenter()) ? 0 : 1;
    }

    @Nullable Replica replica(int id) {
        for (Replica replica : directory.replicas()) {
            if (replica.id() == id) {
                return replica;
            }
        }
        return null;
    }

    @Nullable Replica coordinator(int partition) {
        Integer id = coordinators.get(partition);
        return id == null || suspected(id) ? null : replica(id);
    }

    void coordinatorIs(int partition, int id) {
        Integer known = coordinators.get(partition);
        if (known == null || known != id) {
            coordinators.put(partition, id);
        }
    }

    /**
     * The best replica to ask next: the coordinator where it matters, else the nearest; null: none
     * known.
     */
    @Nullable Replica first(int partition) {
        Replica coordinator = partition == 0 ? null : coordinator(partition);
        if (coordinator != null) {
            return coordinator;
        }
        List<Replica> candidates = candidates(partition);
        return candidates.isEmpty() ? null : candidates.getFirst();
    }

    /** The next one after {@code tried} in order of preference, round and round. */
    @Nullable Replica after(int partition, Replica tried) {
        List<Replica> candidates = candidates(partition);
        if (candidates.isEmpty()) {
            return null;
        }
        for (int i = 0; i < candidates.size(); i++) {
            if (candidates.get(i).id() == tried.id()) {
                Replica next = candidates.get((i + 1) % candidates.size());
                Replica best = candidates.getFirst();
                boolean bestIsGood = !suspected(best.id()) && !isCutOff(best.id());
                return bestIsGood && (suspected(next.id()) || isCutOff(tried.id())) ? best : next;
            }
        }
        return candidates.getFirst();
    }

    void failed(Replica replica, NoReplyException.Kind kind) {
        suspicions.put(replica.id(), new Suspicion(System.nanoTime() + SUSPICION_NS, kind));
    }

    /**
     * It serves, but hears of no coordinator: for a while others of its region come first, and none
     * of another region, which may be what it is cut off from.
     */
    void cutOff(Replica replica) {
        cutOff.put(replica.id(), System.nanoTime() + SUSPICION_NS);
    }

    private boolean isCutOff(int id) {
        Long untilNs = cutOff.get(id);
        return untilNs != null && untilNs - System.nanoTime() > 0;
    }

    void worked(Replica replica) {
        if (!suspicions.isEmpty()) {
            suspicions.remove(replica.id());
        }
    }

    boolean suspected(int id) {
        Suspicion suspicion = suspicions.get(id);
        return suspicion != null && suspicion.untilNs - System.nanoTime() > 0;
    }

    /** Gone a moment ago, as opposed to slow: not worth following a redirect to. */
    boolean unreachable(int id) {
        Suspicion suspicion = suspicions.get(id);
        return suspicion != null
                && suspicion.kind == NoReplyException.Kind.UNREACHABLE
                && suspicion.untilNs - System.nanoTime() > 0;
    }
}
