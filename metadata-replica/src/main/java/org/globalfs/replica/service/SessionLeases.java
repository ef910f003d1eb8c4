package org.globalfs.replica.service;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.CollectOrphansOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.operations.Sessions.Lease;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out, as a partition's coordinator, whose lease has run out, and has that ordered.
 *
 * <p>Only the rate of this process's clock counts: a lease has run out when a renewal has stood
 * here for as long as the lease with no other executed. So a new coordinator waits for all of every
 * lease, and a session, which counts from before it sent the renewal, always knows first.
 */
final class SessionLeases {

    private static final Logger LOG = LoggerFactory.getLogger(SessionLeases.class);

    private final HostedPartition partition;
    private final Multicast multicast;
    private Map<Long, Seen> seen = new HashMap<>();
    private List<Lease> looked = List.of();

    private record Seen(Lease lease, long sinceNs) {
        boolean over(long nowNs) {
            return nowNs - sinceNs > lease.leaseMs() * 1_000_000L;
        }
    }

    SessionLeases(HostedPartition partition, Multicast multicast) {
        this.partition = partition;
        this.multicast = multicast;
    }

    void tick() {
        int ring = partition.partition();
        if (!multicast.isCoordinator(ring)) {
            seen = new HashMap<>();
            looked = List.of();
            return;
        }
        long nowNs = System.nanoTime();
        look(partition.use(PartitionState::leases), nowNs);
        Map<Long, Long> lapsed = new HashMap<>();
        seen.forEach((session, known) -> {
            if (known.over(nowNs)) {
                lapsed.put(session, known.lease.renewedNs());
            }
        });
        if (lapsed.isEmpty()) {
            return;
        }
        CollectOrphansOp op =
                new CollectOrphansOp(1)
                        .setBefore(Long.MIN_VALUE)
                        .setLapsed(lapsed)
                        .setSilence(false);
        UpdateOp update = UpdateOp.collectOrphans(op);
        if (multicast.propose(ring, CommandBytes.internal(ring, update), new int[] {ring})) {
            LOG.info(
                    "partition {}: the leases of sessions {} have run out: their locks and open"
                            + " files are dropped",
                    ring,
                    lapsed.keySet());
        }
    }

    private void look(List<Lease> leases, long nowNs) {
        if (leases.equals(looked)) {
            return;
        }
        Map<Long, Seen> next = new HashMap<>();
        for (Lease lease : leases) {
            Seen known = seen.get(lease.session());
            boolean same = known != null && known.lease.equals(lease);
            next.put(lease.session(), same ? known : new Seen(lease, nowNs));
        }
        seen = next;
        looked = leases;
    }
}
