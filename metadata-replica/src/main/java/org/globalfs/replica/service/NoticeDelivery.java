package org.globalfs.replica.service;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.LongSupplier;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.NoticesOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.PartitionState;

/**
 * Brings into ring 0 what a partition owes others. Done by the ring's coordinator; proposing
 * something twice does no harm.
 */
final class NoticeDelivery {

    private static final int BATCH = 1_000;
    private static final long RESEND_NS = 1_000_000_000L;

    private final HostedPartition partition;
    private final Multicast multicast;
    private final LongSupplier nanoTime;
    private long sentFirst;
    private long sentNs;

    NoticeDelivery(HostedPartition partition, Multicast multicast, LongSupplier nanoTime) {
        this.partition = partition;
        this.multicast = multicast;
        this.nanoTime = nanoTime;
    }

    void tick() {
        int ring = partition.partition();
        if (!multicast.isCoordinator(ring)) {
            return;
        }
        PartitionState.Owed owed = partition.use(state -> state.owed(BATCH));
        boolean waits = owed.first() == sentFirst && nanoTime.getAsLong() - sentNs < RESEND_NS;
        if (owed.notices().isEmpty() || waits) {
            return;
        }
        List<ByteBuffer> notices = owed.notices().stream().map(ByteBuffer::wrap).toList();
        UpdateOp op = UpdateOp.notices(new NoticesOp(ring, owed.first(), notices));
        if (multicast.propose(0, CommandBytes.internal(ring, op), new int[] {0})) {
            sentFirst = owed.first();
            sentNs = nanoTime.getAsLong();
        }
    }
}
