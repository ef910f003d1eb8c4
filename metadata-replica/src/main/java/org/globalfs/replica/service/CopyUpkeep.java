package org.globalfs.replica.service;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.TidyCopiesOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.operations.Copies.Copy;

/**
 * Ends, as a partition's coordinator, the copying ahead of directories that nobody has gone on with
 * for a while, and has erased what moves left behind: a part after the other, each a short command,
 * so that other updates go on in between.
 */
final class CopyUpkeep {

    /** A move that waits for its budget goes on by then, or begins anew. */
    static final long PATIENCE_NS = TimeUnit.MINUTES.toNanos(10);

    private static final int RECORDS_AT_ONCE = 4096;
    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(2);

    private final HostedPartition partition;
    private final Multicast multicast;
    private final LongSupplier clockNs;

    /** By the number of the copying. */
    private final Map<Long, Seen> seen = new HashMap<>();

    private long proposedNs;
    private long appliedThen = -1;

    private record Seen(long part, long sinceNs) {}

    CopyUpkeep(HostedPartition partition, Multicast multicast, LongSupplier clockNs) {
        this.partition = partition;
        this.multicast = multicast;
        this.clockNs = clockNs;
    }

    void tick() {
        int ring = partition.partition();
        if (!multicast.isCoordinator(ring)) {
            seen.clear();
            return;
        }
        long nowNs = clockNs.getAsLong();
        PartitionState.Copying copying = partition.use(PartitionState::copying);
        Map<Long, Long> idle = idle(copying.copies(), nowNs);
        long applied = partition.applied();
        // Nothing was executed since the last one: it must be on its way still.
        boolean waits = applied == appliedThen && nowNs - proposedNs < AGAIN_NS;
        if (waits || idle.isEmpty() && !copying.untidy()) {
            return;
        }
        UpdateOp op = UpdateOp.tidyCopies(new TidyCopiesOp(RECORDS_AT_ONCE, idle));
        if (multicast.propose(ring, CommandBytes.internal(ring, op), new int[] {ring})) {
            proposedNs = nowNs;
            appliedThen = applied;
        }
    }

    private Map<Long, Long> idle(List<Copy> copies, long nowNs) {
        Map<Long, Long> idle = new HashMap<>();
        Map<Long, Seen> now = new HashMap<>();
        for (Copy copy : copies) {
            Seen before = seen.get(copy.number());
            Seen current =
                    before != null && before.part == copy.part()
                            ? before
                            : new Seen(copy.part(), nowNs);
            now.put(copy.number(), current);
            if (!copy.ended() && nowNs - current.sinceNs >= PATIENCE_NS) {
                idle.put(copy.number(), copy.part());
            }
        }
        seen.clear();
        seen.putAll(now);
        return idle;
    }
}
