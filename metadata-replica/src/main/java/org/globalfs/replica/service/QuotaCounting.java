package org.globalfs.replica.service;

import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.AdoptQuotaOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.PartitionState;

/**
 * Has, as a partition's coordinator, counted what was in a tree before it got its quota: a part
 * after the other, each a short command, so that other updates go on in between.
 */
final class QuotaCounting {

    private static final int ENTRIES_AT_ONCE = 2048;
    private static final long AGAIN_NS = 2_000_000_000L;

    private final HostedPartition partition;
    private final Multicast multicast;
    private long proposedNs = System.nanoTime() - AGAIN_NS;
    private long appliedThen = -1;

    QuotaCounting(HostedPartition partition, Multicast multicast) {
        this.partition = partition;
        this.multicast = multicast;
    }

    void tick() {
        int ring = partition.partition();
        if (!multicast.isCoordinator(ring) || !partition.use(PartitionState::isCounting)) {
            return;
        }
        long applied = partition.applied();
        long nowNs = System.nanoTime();
        // Nothing was executed since the last one: it must be on its way still.
        if (applied == appliedThen && nowNs - proposedNs < AGAIN_NS) {
            return;
        }
        UpdateOp op = UpdateOp.adoptQuota(new AdoptQuotaOp(ENTRIES_AT_ONCE));
        if (multicast.propose(ring, CommandBytes.internal(ring, op), new int[] {ring})) {
            proposedNs = nowNs;
            appliedThen = applied;
        }
    }
}
