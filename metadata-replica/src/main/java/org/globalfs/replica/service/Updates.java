package org.globalfs.replica.service;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.globalfs.replica.state.model.Partitions;

/**
 * Brings updates into their ring and waits for their execution here. A regional update is taken by
 * the ring's coordinator only, so that whoever answers strong reads has executed everything
 * acknowledged; a global one by any replica.
 */
final class Updates {

    /** Longer values would hold up a ring; a client splits its writes far below. */
    static final int MAX_COMMAND_BYTES = 4 << 20;

    static final long PROPOSE_PAUSE_NS = 5_000_000;

    private static final long REPROPOSE_GLOBAL_NS = 2_000_000_000L;

    /** A client that knows other replicas need not wait here for longer. */
    private static final long CUT_OFF_NS = 300_000_000L;

    private final Map<Integer, HostedPartition> partitions;
    private final Map<Integer, CausalWait> causal;
    private final RingPeers rings;
    private final Grants grants;
    private final Multicast multicast;
    private final RegionalProposals regional;
    private final Shutdown shutdown;
    private final Topology topology;
    private final DiskRoom disk;
    private final PeerRoom peerRoom;

    Updates(
            Topology topology,
            Map<Integer, HostedPartition> partitions,
            Map<Integer, CausalWait> causal,
            RingPeers rings,
            Grants grants,
            Multicast multicast,
            DiskRoom disk,
            PeerRoom peerRoom,
            Shutdown shutdown) {
        this.topology = topology;
        this.disk = disk;
        this.peerRoom = peerRoom;
        this.grants = grants;
        this.partitions = partitions;
        this.causal = causal;
        this.rings = rings;
        this.multicast = multicast;
        this.shutdown = shutdown;
        this.regional = new RegionalProposals(multicast, shutdown);
    }

    UpdateReply update(UpdateRequest request) throws InterruptedException {
        long deadlineNs = Deadlines.of(request.isSetWaitMs(), request.getWaitMs());
        Command command = request.getCommand();
        HostedPartition partition = partitions.get(request.getPartition());
        if (partition == null || !rings.serves(request.getPartition())) {
            return redirect(Multicast.NONE);
        }
        if (!acceptable(command)) {
            return new UpdateReply(Status.DONE, Errno.EINVAL.number());
        }
        byte[] value = CommandBytes.of(command);
        if (value.length > MAX_COMMAND_BYTES) {
            return new UpdateReply(Status.DONE, Errno.E2BIG.number());
        }
        int ring = partition.partition();
        if (ring != 0 && !multicast.isCoordinator(ring)) {
            return redirect(multicast.coordinator(ring));
        }
        boolean full = disk.isFull() || ring != 0 && peerRoom.isLacking();
        if (full && DiskRoom.isRefusable(request)) {
            return new UpdateReply(Status.DONE, Errno.ENOSPC.number());
        }
        return ring == 0
                ? global(partition, command, value, deadlineNs)
                : regional(partition, command, value, deadlineNs);
    }

    /**
     * Clients may not speak for the replicas, nor of a partition that nobody holds: what is placed
     * there, or waits for its vote, would be lost.
     */
    private boolean acceptable(Command command) {
        if (command.getSession() == 0 || command.getSequence() <= 0 || !command.getOp().isSet()) {
            return false;
        }
        boolean participantsExist =
                !command.isSetParticipants()
                        || command.getParticipants().stream().allMatch(this::exists);
        if (!exists(command.getOrigin()) || !participantsExist || !votersExist(command)) {
            return false;
        }
        UpdateOp._Fields kind = command.getOp().getSetField();
        return switch (kind) {
            case CREATE, UNLINK, RENAME, LINK, SET_ATTRIBUTES, RENEW_SESSION, LOCK -> true;
            case MOVE -> exists(command.getOp().getMove().getTo());
            case WRITE, ALLOCATE, COPY_RANGE, COMPACT, SET_XATTR, REMOVE_XATTR, SET_QUOTA -> true;
            case COLLECT_ORPHANS,
                    BLOCKS_DELETED,
                    FENCE_BLOCKS,
                    CONFIRM_IMPORTS,
                    VOTE,
                    DECIDE,
                    NOTICES,
                    TIDY_COPIES,
                    ADOPT_QUOTA ->
                    false;
        };
    }

    /** Where what a coordinated command names was born: there it is asked for, at first. */
    private boolean votersExist(Command command) {
        if (!command.isCoordinated()) {
            return true;
        }
        UpdateOp op = command.getOp();
        List<Long> named =
                switch (op.getSetField()) {
                    case UNLINK -> List.of(op.getUnlink().getParent());
                    case RENAME ->
                            List.of(op.getRename().getParent(), op.getRename().getNewParent());
                    case LINK -> List.of(op.getLink().getIno(), op.getLink().getNewParent());
                    case MOVE -> op.getMove().getInodes();
                    default -> List.of();
                };
        return LongStream.concat(
                        LongStream.of(command.getExpectedSource(), command.getExpectedTarget()),
                        named.stream().mapToLong(Long::longValue))
                .mapToInt(Partitions::ofBirth)
                .allMatch(this::exists);
    }

    private boolean exists(int partition) {
        return partition == Topology.GLOBAL || topology.region(partition).isPresent();
    }

    private UpdateReply regional(
            HostedPartition partition, Command command, byte[] value, long deadlineNs)
            throws InterruptedException {
        int ring = partition.partition();
        CausalWait wait = Objects.requireNonNull(causal.get(ring));
        if (!wait.await(0, command.getGlobalSeen(), deadlineNs)) {
            return retry();
        }
        Grants.Permit permit = grants.admit(command, deadlineNs);
        if (permit == null) {
            return retry();
        }
        try (Waiters.Waiter waiter =
                partition.waiters.enter(command.getSession(), command.getSequence())) {
            boolean known = false;
            try {
                UpdateReply reply = regional.order(ring, value, waiter, deadlineNs);
                if (reply != null) {
                    UpdateReply answer = permit.executed(reply, deadlineNs);
                    known = true;
                    // Decided under a later coordinator, it may be unknown there yet, and a strong
                    // read would miss it: only what was decided here is acknowledged here.
                    return multicast.isCoordinator(ring)
                            ? answer
                            : redirect(multicast.coordinator(ring));
                }
            } finally {
                if (known) {
                    permit.end();
                } else {
                    grants.leave(permit, waiter);
                }
            }
        }
        return multicast.isCoordinator(ring) ? retry() : redirect(multicast.coordinator(ring));
    }

    private UpdateReply global(
            HostedPartition partition, Command command, byte[] value, long deadlineNs)
            throws InterruptedException {
        int[] destinations = destinations(command);
        long cutOffNs = System.nanoTime() + CUT_OFF_NS;
        try (Waiters.Waiter waiter =
                partition.waiters.enter(command.getSession(), command.getSequence())) {
            while (System.nanoTime() - deadlineNs < 0 && !shutdown.begun()) {
                boolean taken = multicast.propose(0, value, destinations);
                long leftNs = deadlineNs - System.nanoTime();
                UpdateReply reply =
                        waiter.await(
                                Math.min(leftNs, taken ? REPROPOSE_GLOBAL_NS : PROPOSE_PAUSE_NS));
                if (reply != null) {
                    return reply;
                }
                boolean cutOff = multicast.coordinator(0) == Multicast.NONE;
                if (cutOff && System.nanoTime() - cutOffNs >= 0) {
                    return retry().setCutOff(true);
                }
            }
            return retry();
        }
    }

    /**
     * Partitions that a command of ring 0 may concern: what the ring's members need to know
     * beforehand.
     */
    private static int[] destinations(Command command) {
        if (command.isCoordinated() && command.isSetParticipants()) {
            List<Integer> participants = command.getParticipants();
            return IntStream.concat(
                            IntStream.of(0), participants.stream().mapToInt(Integer::intValue))
                    .distinct()
                    .toArray();
        }
        boolean placed = command.getOp().isSetCreate() && command.getOrigin() != 0;
        return placed ? new int[] {0, command.getOrigin()} : new int[] {0};
    }

    static UpdateReply redirect(int coordinator) {
        return new UpdateReply(Status.REDIRECT, 0).setCoordinator(coordinator);
    }

    static UpdateReply retry() {
        return new UpdateReply(Status.RETRY, 0);
    }
}
