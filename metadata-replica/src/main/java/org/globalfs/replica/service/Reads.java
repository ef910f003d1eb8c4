package org.globalfs.replica.service;

import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.Consistency;
import org.globalfs.protocol.wire.LockState;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.ReadOp;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.Status;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.operations.Held;
import org.jspecify.annotations.Nullable;

/**
 * Answers reads: causal ones from any replica, strong ones from the coordinator while it holds its
 * lease.
 */
final class Reads {

    private static final long LAST_LOOK_NS = 1_000_000_000L;

    /** As long as a vote may take. */
    private static final long DECISION_WAIT_NS = 10_000_000_000L;

    /**
     * Each wait for a lock takes one of the server's connections: there have to be enough left for
     * whatever else is asked, the unlock above all.
     */
    private final Semaphore lockWaits;

    private final Map<Integer, HostedPartition> partitions;
    private final Map<Integer, CausalWait> causal;
    private final RingPeers rings;
    private final int home;
    private final Grants grants;
    private final Multicast multicast;
    private final Opened opened;

    /** By coordinated operation that a read has waited for. */
    private final Map<Long, Long> awaitedUntilNs = new ConcurrentHashMap<>();

    /** Hears of every file that is opened. */
    @FunctionalInterface
    interface Opened {
        void opened(int partition, long ino);
    }

    /**
     * @param opened hears of files of any partition
     * @param mostLockWaits how many may wait for locks at a time
     */
    Reads(
            Map<Integer, HostedPartition> partitions,
            Map<Integer, CausalWait> causal,
            RingPeers rings,
            int home,
            Grants grants,
            Multicast multicast,
            Opened opened,
            int mostLockWaits) {
        this.lockWaits = new Semaphore(mostLockWaits);
        this.opened = opened;
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
        if (request.getOp().isSetOpen()) {
            opened.opened(request.getPartition(), request.getOp().getOpen().getIno());
        }
        return waits ? awaitLock(request, deadlineNs) : read(request, deadlineNs);
    }

    /**
     * Answers once the request waits no more, or at the deadline; at once where as many as may wait
     * do so already.
     */
    private ReadReply awaitLock(ReadRequest request, long deadlineNs) throws InterruptedException {
        HostedPartition partition = partitions.get(request.getPartition());
        if (partition == null || !lockWaits.tryAcquire()) {
            // Of a request that waits the client asks again a second later.
            return read(request, deadlineNs);
        }
        try {
            return awaitLock(partition, request, deadlineNs);
        } finally {
            lockWaits.release();
        }
    }

    private ReadReply awaitLock(HostedPartition partition, ReadRequest request, long deadlineNs)
            throws InterruptedException {
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
            ReadReply refusal = refuse(number, Status.RETRY);
            return number == 0 ? orCutOff(refusal) : refusal;
        }
        ReadReply reply = partition.use(state -> state.read(request));
        if (ticket == null) {
            return number == 0 ? orCutOff(reply) : reply;
        }
        if (awaitDecisions(partition, request, reply, deadlineNs)) {
            if (System.nanoTime() - deadlineNs >= 0) {
                return refuse(number, Status.RETRY);
            }
            reply = partition.use(state -> state.read(request));
        }
        if (!grants.awaitSettled(request, reply, deadlineNs)) {
            return refuse(number, Status.RETRY);
        }
        return grants.grant(request, reply, ticket);
    }

    /**
     * A coordinated operation may have been decided, and answered, before this read was asked
     * though its import is not here yet: waits for those that were prepared by now and may change
     * what the reply says. True: there were some.
     *
     * <p>A region that is cut off does not hear decisions. So no operation is waited for longer
     * than {@link #DECISION_WAIT_NS} in all; then who asks is shown what was before it. Nobody
     * there can know better: whoever does waits for the import by what his session has seen.
     */
    private boolean awaitDecisions(
            HostedPartition partition, ReadRequest request, ReadReply reply, long deadlineNs)
            throws InterruptedException {
        Map<Long, Held> held = partition.use(PartitionState::held);
        if (!awaitedUntilNs.isEmpty()) {
            awaitedUntilNs.keySet().retainAll(held.keySet());
        }
        Set<Long> open = new HashSet<>();
        long untilNs = System.nanoTime();
        for (Map.Entry<Long, Held> each : held.entrySet()) {
            if (concerns(each.getValue(), request.getOp(), reply)) {
                open.add(each.getKey());
                long nowNs = System.nanoTime();
                long ownNs =
                        awaitedUntilNs.computeIfAbsent(
                                each.getKey(), key -> nowNs + DECISION_WAIT_NS);
                untilNs = ownNs - untilNs > 0 ? ownNs : untilNs;
            }
        }
        if (open.isEmpty()) {
            return false;
        }
        var _ =
                partition.progress.await(
                        () ->
                                Collections.disjoint(
                                        partition.use(PartitionState::held).keySet(), open),
                        untilNs - deadlineNs < 0 ? untilNs : deadlineNs);
        return true;
    }

    /** Here partition 0 may be far behind: whoever has the choice should ask elsewhere. */
    private ReadReply orCutOff(ReadReply reply) {
        return multicast.coordinator(0) == Multicast.NONE ? reply.setCutOff(true) : reply;
    }

    /** Names and attributes; content does not change with a name. */
    private static boolean concerns(Held held, ReadOp op, ReadReply reply) {
        if (!held.leaving().isEmpty() && held.leaving().contains(subject(op))) {
            // Whoever has it by then may have changed everything of it.
            return true;
        }
        boolean told =
                reply.isSetAttributes() && held.inodes().contains(reply.getAttributes().getIno());
        return switch (op.getSetField()) {
            case LOOKUP ->
                    told
                            || held.hasName(
                                    op.getLookup().getParent(), op.getLookup().bufferForName());
            case GET_ATTRIBUTES, READ_DIRECTORY -> told;
            default -> false;
        };
    }

    /** The inode that is asked about, 0: none. */
    static long subject(ReadOp op) {
        return switch (op.getSetField()) {
            case LOOKUP -> op.getLookup().getParent();
            case GET_ATTRIBUTES -> op.getGetAttributes().getIno();
            case OPEN -> op.getOpen().getIno();
            case CONTENT -> op.getContent().getIno();
            case READ_DIRECTORY -> op.getReadDirectory().getIno();
            case READ_LINK -> op.getReadLink().getIno();
            case GET_XATTR -> op.getGetXattr().getIno();
            case LIST_XATTR -> op.getListXattr().getIno();
            case GET_LOCK -> op.getGetLock().getIno();
            case QUOTA -> op.getQuota().getIno();
            case STAT_FS -> 0;
        };
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
