package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.merge.RoundRobin;
import org.jspecify.annotations.Nullable;

/**
 * Watches all processes from outside and fails the run at the first thing that must never happen:
 *
 * <ul>
 *   <li>agreement: an instance has one value, whoever learns it; timestamps rise along a ring;
 *   <li>durability: what is first learned is on the disks of a majority;
 *   <li>no gap: nobody learns an instance before somebody learned the one before it;
 *   <li>imports: a partition executes exactly the instances of ring 0 that concern it, in their
 *       order. So the order across partitions has no cycle: two partitions execute the instances
 *       that concern both in the order of ring 0, and a local command is in one partition only;
 *   <li>merged order: the round-robin learners of a group deliver one sequence, the one that {@link
 *       MergeOrder} works out; all groups' are part of one order of everything;
 *   <li>equal states: the states of a partition at one position have one hash;
 *   <li>acknowledged means decided: what a client was told is in the decided history (and the model
 *       state finds a session's writes without a gap);
 *   <li>one lease at a time, and reads at it are linearizable: see {@link #completed}.
 * </ul>
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

    /** Tells whether a majority of the ring's members has the instance's batch on disk. */
    interface Durability {
        boolean onMajority(int ring, long instance, Batch batch);
    }

    /** What is known of one ring and its partition. */
    private static final class History {
        private final List<Batch> decided = new ArrayList<>();
        private final Set<Long> values = new HashSet<>();
        private final List<Long> hashes = new ArrayList<>();
        private final Positions concerning = new Positions();
        private final TreeMap<Long, Membership> memberships = new TreeMap<>();
        private long lastTimestamp;
        private long acknowledged;
        private long version;
        private @Nullable Grant grant;
    }

    private final Map<Integer, History> rings = new HashMap<>();
    private final Map<Integer, MergeOrder.Log> logs = new HashMap<>();
    private final Map<Integer, MergeOrder> merges = new HashMap<>();
    private final int turn;
    private final Coverage coverage;
    private final Durability durability;

    /**
     * @param turn M of the round-robin learners
     */
    Checker(Coverage coverage, Durability durability, int turn) {
        this.coverage = coverage;
        this.durability = durability;
        this.turn = turn;
    }

    Coverage coverage() {
        return coverage;
    }

    private History history(int ring) {
        return rings.computeIfAbsent(ring, r -> new History());
    }

    /** What the ring begins with. */
    void begin(int ring, Membership membership) {
        history(ring).memberships.put(1L, membership);
    }

    /** Who decides the instance. */
    Membership membershipAt(int ring, long instance) {
        return history(ring).memberships.floorEntry(instance).getValue();
    }

    /** Who decides the next instance. */
    Membership membership(int ring) {
        return history(ring).memberships.lastEntry().getValue();
    }

    /** Some learner learned that the ring decided this. */
    void decided(int ring, int process, long instance, Batch batch) {
        History history = history(ring);
        if (instance <= history.decided.size()) {
            Batch former = history.decided.get((int) instance - 1);
            if (!former.equals(batch)) {
                throw new Violation(
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
            }
            return;
        }
        if (instance != history.decided.size() + 1) {
            throw new Violation(
                    "ring "
                            + ring
                            + ": process "
                            + process
                            + " learned "
                            + instance
                            + ", nobody anything after "
                            + history.decided.size());
        }
        if (!durability.onMajority(ring, instance, batch)) {
            throw new Violation(
                    "ring "
                            + ring
                            + " instance "
                            + instance
                            + ": process "
                            + process
                            + " learned what is not on a majority's disks");
        }
        history.decided.add(batch);
        logs.computeIfAbsent(ring, r -> new MergeOrder.Log()).decided(batch);
        for (Entry entry : batch.entries()) {
            if (entry instanceof Entry.Command command) {
                command(ring, instance, history, command);
            } else if (entry instanceof Entry.Members members) {
                change(history, instance, members.membership());
            }
        }
    }

    private void change(History history, long instance, Membership next) {
        Membership former = history.memberships.lastEntry().getValue();
        check(
                next.generation() == former.generation() + 1,
                "membership " + next + " follows " + former);
        history.memberships.put(instance + 1, next);
        coverage.count(Coverage.Kind.CHANGES_IN_FORCE);
    }

    private void command(int ring, long instance, History history, Entry.Command command) {
        if (command.timestamp() <= history.lastTimestamp) {
            throw new Violation("ring " + ring + " instance " + instance + ": timestamps fall");
        }
        history.lastTimestamp = command.timestamp();
        history.values.add(Value.of(command.value()).id());
        for (int partition : command.destinations()) {
            history(partition).concerning.add(instance);
        }
    }

    /** A replica executed a partition's instance, and has this hash afterwards. */
    void executed(int partition, long instance, long hash) {
        List<Long> hashes = history(partition).hashes;
        if (instance == hashes.size() + 1) {
            hashes.add(hash);
        } else {
            check(instance <= hashes.size(), "a state skipped an instance");
            if (hashes.get((int) instance - 1) != hash) {
                throw new Violation(
                        "states of partition " + partition + " differ after " + instance);
            }
        }
    }

    /** A replica meets an import; it may come twice, but not before those that go before it. */
    void importing(int partition, long instance, long importedThrough) {
        long next = history(partition).concerning.after(importedThrough);
        if (instance > importedThrough && instance != next) {
            throw new Violation(
                    "partition "
                            + partition
                            + " imports "
                            + instance
                            + " after "
                            + importedThrough
                            + ", but "
                            + next
                            + " is next");
        }
    }

    /** A round-robin learner delivers this, as the so manieth. */
    void merged(int group, int process, int index, RoundRobin.Delivered what) {
        merges.computeIfAbsent(group, g -> new MergeOrder(g, turn, logs))
                .delivered(process, index, what);
    }

    /** A coordinator has a lease from now until then; clients may rely on it although it dies. */
    void lease(
            int ring, int process, int incarnation, long nowNs, long untilNs, long readInstance) {
        History history = history(ring);
        Grant former = history.grant;
        boolean same =
                former != null && former.process == process && former.incarnation == incarnation;
        if (former != null && !same && former.untilNs > nowNs) {
            throw new Violation(
                    "ring "
                            + ring
                            + ": process "
                            + process
                            + " has a lease while that of "
                            + former
                            + " runs at "
                            + nowNs);
        }
        if (former == null || !same || former.untilNs < untilNs) {
            history.grant = new Grant(process, incarnation, untilNs);
        }
        if (readInstance < history.acknowledged) {
            throw new Violation(
                    "ring "
                            + ring
                            + ": a read at "
                            + readInstance
                            + " would miss acknowledged instance "
                            + history.acknowledged);
        }
    }

    /** A client is about to be told that its write in this instance is done. */
    void acknowledged(int ring, long instance, Value value) {
        History history = history(ring);
        check(history.values.contains(value.id()), "acknowledged, but not decided: " + value);
        history.acknowledged = Math.max(history.acknowledged, instance);
    }

    /** The register's highest value in an operation that is complete. */
    long version(int ring) {
        return history(ring).version;
    }

    /**
     * An operation is complete. All writes of a partition move one register, so the register's
     * values are the order of the writes, and a history is linearizable if and only if no operation
     * sees less than one that was complete before it began: {@code floor}.
     */
    void completed(int ring, boolean write, long floor, long version) {
        if (write ? version <= floor : version < floor) {
            throw new Violation(
                    "ring "
                            + ring
                            + ": a "
                            + (write ? "write" : "read")
                            + " sees version "
                            + version
                            + ", though "
                            + floor
                            + " was seen before it began");
        }
        History history = history(ring);
        history.version = Math.max(history.version, version);
        coverage.count(write ? Coverage.Kind.WRITES_ACKNOWLEDGED : Coverage.Kind.LEASE_READS);
    }

    /** The instance of ring 0 that the partition must import after this one, or -1. */
    long nextConcerning(int partition, long after) {
        return history(partition).concerning.after(after);
    }

    /** The last of these instances that has more than a skip in it. */
    long toMerge(int ring, long through) {
        List<Batch> decided = history(ring).decided;
        long instance = through;
        while (instance > 0 && MergeOrder.empty(decided.get((int) instance - 1))) {
            instance--;
        }
        return instance;
    }

    /** The last instance that any learner learned. */
    long decided(int ring) {
        return history(ring).decided.size();
    }

    boolean delivered(int ring, Value value) {
        return history(ring).values.contains(value.id());
    }

    static void check(boolean holds, String message) {
        if (!holds) {
            throw new Violation(message);
        }
    }
}
