package org.globalfs.replica.service;

import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.LockState;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.Status;
import org.jspecify.annotations.Nullable;

/**
 * Answers reads: causal ones from any replica, strong ones from the coordinator while it holds its
 * lease.
 */
final class Reads {

    private static final long LAST_LOOK_NS = 1_000_000_000L;

    private final Map<Integer, HostedPartition> partitions;
    private final Map<Integer, CausalWait> causal;
    private final RingPeers rings;
    private final int home;
    private final Grants grants;
    private final Multicast multicast;

    Reads(
            Map<Integer, HostedPartition> partitions,
            Map<Integer, CausalWait> causal,
            RingPeers rings,
            int home,
            Grants grants,
            Multicast multicast) {
        this.rings = rings;
        this.home = home;
        this.grants = grants;
        this.partitions = partitions;
        this.causal = causal;
        this.multicast = multicast;
    }

    ReadReply read(ReadRequest request) throws InterruptedException {
        long deadlineNs = Deadlines.of(request.isSetWaitMs(), request.getWaitMs());
        boolean waits =
                request.getOp().isSetGetLock() && request.getOp().getGetLock().isSetRequest();
        return waits ? awaitLock(request, deadlineNs) : read(request, deadlineNs);
    }

    /** Answers once the request waits no more, or at the deadline. */
    private ReadReply awaitLock(ReadRequest request, long deadlineNs) throws InterruptedException {
        HostedPartition partition = partitions.get(request.getPartition());
        if (partition == null) {
            return read(request, deadlineNs);
        }
        long asked = request.getOp().getGetLock().getRequest();
        try (Waiters.Waiter waiter = partition.waiters.enter(request.getSession(), -asked)) {
            ReadReply reply = read(request, deadlineNs);
            if (reply.getLockState() == LockState.WAITING) {
                var _ = waiter.await(deadlineNs - System.nanoTime());
                reply = read(request, Math.max(deadlineNs, System.nanoTime() + LAST_LOOK_NS));
            }
            return reply;
        }
    }

    private ReadReply read(ReadRequest request, long deadlineNs) throws InterruptedException {
        int number = request.getPartition();
        HostedPartition partition = partitions.get(number);
        CausalWait wait = causal.get(number);
        if (partition == null || wait == null || !rings.serves(number)) {
            return refuse(number, Status.REDIRECT).setCoordinator(Multicast.NONE);
        }
        long seen = request.getSeen();
        Grants.Ticket ticket = null;
        if (request.getConsistency() == Consistency.STRONG) {
            ReadReply refusal = refusal(number);
            if (refusal != null) {
                return refusal;
            }
            long current = multicast.leaseInstance(number);
            if (current == Multicast.NONE) {
                current = readIndex(number, deadlineNs);
            }
            if (current == Multicast.NONE) {
                return refuse(number, Status.RETRY);
            }
            seen = Math.max(seen, current);
            ticket = number == home ? grants.ticket() : null;
        }
        if (!wait.await(seen, request.getGlobalSeen(), deadlineNs)) {
            return refuse(number, Status.RETRY);
        }
        ReadReply reply = partition.use(state -> state.read(request));
        return ticket == null ? reply : grants.grant(request, reply, ticket);
    }

    /** Without a lease a round trip to a majority tells that this is still the coordinator. */
    private long readIndex(int ring, long deadlineNs) throws InterruptedException {
        try {
            return multicast
                    .readIndex(ring)
                    .get(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return Multicast.NONE;
        } catch (ExecutionException e) {
            throw new IllegalStateException("the read of ring " + ring + " failed", e.getCause());
        }
    }

    private @Nullable ReadReply refusal(int ring) {
        return multicast.isCoordinator(ring)
                ? null
                : refuse(ring, Status.REDIRECT).setCoordinator(multicast.coordinator(ring));
    }

    private ReadReply refuse(int number, Status status) {
        return new ReadReply(status, 0, new Position(number, 0));
    }
}
