package org.globalfs.replica.service;

import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.HybridClock;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.PartitionState;

/** Has a partition's old orphans collected, as its coordinator. */
final class OrphanUpkeep {
    private static final int AT_ONCE = 4096;

    private final HostedPartition partition;
    private final Multicast multicast;
    private final Grace grace = new Grace();

    OrphanUpkeep(HostedPartition partition, Multicast multicast) {
        this.partition = partition;
        this.multicast = multicast;
    }

    void tick() {
        int ring = partition.partition();
        long timeNs = HybridClock.ns(partition.use(PartitionState::lastTimestamp));
        long beforeNs = grace.over(System.nanoTime(), timeNs);
        if (multicast.isCoordinator(ring) && partition.use(PartitionState::orphans) > 0) {
            CollectOrphansOp op = new CollectOrphansOp(AT_ONCE).setBefore(beforeNs);
            multicast.propose(
                    ring,
                    CommandBytes.internal(ring, UpdateOp.collectOrphans(op)),
                    new int[] {ring});
        }
    }
}
