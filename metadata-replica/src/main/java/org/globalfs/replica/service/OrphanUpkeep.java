package org.globalfs.replica.service;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.HybridClock;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.PartitionState.Orphaned;
import org.jspecify.annotations.Nullable;

/**
 * Has a partition's old orphans collected, as its coordinator, and sessions forgotten that have
 * been silent for very long.
 *
 * <p>It looks for what is due here, so that the execution, which holds up all updates, looks at
 * little else: part after part, and again from the beginning some seconds later. A part is ordered
 * once the one before is executed.
 */
final class OrphanUpkeep {

    /** What is executed in some 10 ms. */
    private static final int AT_ONCE = 512;

    /** Looked at in one tick. */
    private static final int ROWS = 4_096;

    private static final long PASS_NS = TimeUnit.SECONDS.toNanos(5);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(1);
    private static final long SESSIONS_NS = TimeUnit.HOURS.toNanos(1);

    private final HostedPartition partition;
    private final Multicast multicast;
    private final LongSupplier nanoTime;
    private final Grace grace = new Grace();
    private @Nullable Proposed proposed;
    private long from;
    private long passNs;

    /** When sessions were looked at last, by whichever coordinator. */
    private long sessionsNs;

    private long silenceTime;

    private record Proposed(Orphaned part, long atNs) {}

    OrphanUpkeep(HostedPartition partition, Multicast multicast, LongSupplier nanoTime) {
        this.partition = partition;
        this.multicast = multicast;
        this.nanoTime = nanoTime;
        this.passNs = nanoTime.getAsLong() - PASS_NS;
        this.sessionsNs = nanoTime.getAsLong();
    }

    void tick() {
        long nowNs = nanoTime.getAsLong();
        long timeNs = HybridClock.ns(partition.use(PartitionState::lastTimestamp));
        long beforeNs = grace.over(nowNs, timeNs);
        long silence = partition.use(PartitionState::silenceTime);
        if (silence != silenceTime) {
            silenceTime = silence;
            sessionsNs = nowNs;
        }
        if (!multicast.isCoordinator(partition.partition())) {
            proposed = null;
            from = 0;
            return;
        }
        if (nowNs - sessionsNs >= SESSIONS_NS && partition.use(PartitionState::sessions) > 0) {
            sessionsNs = nowNs;
            var _ = propose(new CollectOrphansOp(0).setBefore(Long.MIN_VALUE).setSilence(true));
        }
        if (partition.use(PartitionState::orphans) > 0 && !isUnderWay(nowNs)) {
            goOn(beforeNs, nowNs);
        }
    }

    private boolean isUnderWay(long nowNs) {
        Proposed last = proposed;
        if (last == null) {
            return false;
        }
        boolean firstGone = !isOrphan(last.part.first());
        boolean lastGone = !isOrphan(last.part.last());
        if (!firstGone && !lastGone && nowNs - last.atNs < PATIENCE_NS) {
            return true;
        }
        // Files of very many extents take several commands; who has claimed some keeps them.
        from = firstGone && !lastGone ? last.part.first() : last.part.next();
        proposed = null;
        return false;
    }

    private boolean isOrphan(long ino) {
        return partition.use(state -> state.isOrphan(ino));
    }

    private void goOn(long beforeNs, long nowNs) {
        if (from == 0) {
            if (nowNs - passNs < PASS_NS) {
                return;
            }
            passNs = nowNs;
        }
        Orphaned part = partition.use(state -> state.orphaned(from, beforeNs, AT_ONCE, ROWS));
        if (part.count() == 0) {
            from = part.next();
        } else if (propose(
                new CollectOrphansOp(AT_ONCE)
                        .setBefore(beforeNs)
                        .setSilence(false)
                        .setFirst(part.first())
                        .setLast(part.last()))) {
            proposed = new Proposed(part, nowNs);
        }
    }

    private boolean propose(CollectOrphansOp op) {
        int ring = partition.partition();
        byte[] command = CommandBytes.internal(ring, UpdateOp.collectOrphans(op));
        return multicast.propose(ring, command, new int[] {ring});
    }
}
