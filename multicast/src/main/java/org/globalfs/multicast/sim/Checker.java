package org.globalfs.multicast.sim;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.core.Batch;

/**
 * Watches all learners of all rings from outside and fails the run at the first thing that must
 * never happen.
 */
final class Checker {

    /** What a run that breaks a property ends with. */
    static final class Violation extends AssertionError {
        private static final long serialVersionUID = 1;

        Violation(String message) {
            super(message);
        }
    }

    private record Grant(int process, int incarnation, long untilNs) {}

    private final Map<Integer, NavigableMap<Long, Batch>> decided = new HashMap<>();
    private final Map<Integer, TreeMap<Long, Long>> timestamps = new HashMap<>();
    private final Map<Integer, Set<Long>> delivered = new HashMap<>();
    private final Map<Integer, TreeSet<Long>> concerning = new HashMap<>();
    private final Map<Integer, Map<Long, Long>> importedAt = new HashMap<>();
    private final Map<Integer, Grant> grants = new HashMap<>();
    private final Map<Integer, Long> acknowledged = new HashMap<>();

    /** Some learner learned that the ring decided this. */
    void decided(int ring, int process, long instance, Batch batch, boolean acknowledges) {
        Batch former = history(ring).putIfAbsent(instance, batch);
        check(
                former == null || former.equals(batch),
                "ring "
                        + ring
                        + " instance "
                        + instance
                        + ": process "
                        + process
                        + " has "
                        + batch
                        + ", another "
                        + former);
        if (former == null) {
            record(ring, instance, batch);
        }
        if (acknowledges) {
            acknowledged.merge(ring, instance, Math::max);
        }
    }

    private void record(int ring, long instance, Batch batch) {
        TreeMap<Long, Long> times = timestamps.computeIfAbsent(ring, r -> new TreeMap<>());
        long last = 0;
        for (Entry entry : batch.entries()) {
            if (entry instanceof Entry.Command command) {
                if (last == 0) {
                    Map.Entry<Long, Long> before = times.lowerEntry(instance);
                    check(
                            before == null || before.getValue() < command.timestamp(),
                            "ring "
                                    + ring
                                    + " instance "
                                    + instance
                                    + ": timestamp not above its predecessor's");
                }
                check(
                        command.timestamp() > last,
                        "ring " + ring + " instance " + instance + ": timestamps fall");
                last = command.timestamp();
                delivered
                        .computeIfAbsent(ring, r -> new HashSet<>())
                        .add(SimProcess.id(command.value()));
                for (int partition : command.destinations()) {
                    concerning.computeIfAbsent(partition, p -> new TreeSet<>()).add(instance);
                }
            }
        }
        if (last > 0) {
            times.put(instance, last);
            Map.Entry<Long, Long> above = times.higherEntry(instance);
            if (above != null) {
                long first = firstTimestamp(history(ring).get(above.getKey()));
                check(
                        last < first,
                        "ring "
                                + ring
                                + " instance "
                                + instance
                                + ": timestamp above its successor's");
            }
        }
    }

    private static long firstTimestamp(Batch batch) {
        for (Entry entry : batch.entries()) {
            if (entry instanceof Entry.Command command) {
                return command.timestamp();
            }
        }
        return Long.MAX_VALUE;
    }

    /** A replica executed a home instance and stands at this import afterwards. */
    void imported(int partition, long instance, long importedThrough) {
        Long former =
                importedAt
                        .computeIfAbsent(partition, p -> new HashMap<>())
                        .putIfAbsent(instance, importedThrough);
        check(
                former == null || former == importedThrough,
                "partition "
                        + partition
                        + " after instance "
                        + instance
                        + ": imported through "
                        + importedThrough
                        + " here, "
                        + former
                        + " there");
    }

    /**
     * A coordinator has a lease from now until then; clients may rely on it although the process
     * dies.
     */
    void lease(
            int ring, int process, int incarnation, long nowNs, long untilNs, long readInstance) {
        Grant former = grants.get(ring);
        boolean same =
                former != null && former.process == process && former.incarnation == incarnation;
        check(
                former == null || same || former.untilNs <= nowNs,
                "ring "
                        + ring
                        + ": process "
                        + process
                        + " has a lease while that of "
                        + former
                        + " runs at "
                        + nowNs);
        if (former == null || !same || former.untilNs < untilNs) {
            grants.put(ring, new Grant(process, incarnation, untilNs));
        }
        long must = acknowledged.getOrDefault(ring, 0L);
        check(
                readInstance >= must,
                "ring "
                        + ring
                        + ": a read at "
                        + readInstance
                        + " would miss acknowledged instance "
                        + must);
    }

    long nextConcerning(int partition, long after, long executed) {
        Long next = concerning.computeIfAbsent(partition, p -> new TreeSet<>()).higher(after);
        return next != null && next <= executed ? next : -1;
    }

    private NavigableMap<Long, Batch> history(int ring) {
        return decided.computeIfAbsent(ring, r -> new TreeMap<>());
    }

    /** The last instance that any learner learned. */
    long decided(int ring) {
        return history(ring).size();
    }

    boolean delivered(int ring, long value) {
        return delivered.getOrDefault(ring, Set.of()).contains(value);
    }

    static void check(boolean holds, String message) {
        if (!holds) {
            throw new Violation(message);
        }
    }
}
