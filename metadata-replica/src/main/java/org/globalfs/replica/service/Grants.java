package org.globalfs.replica.service;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RecallReply;
import org.globalfs.protocol.wire.RecallRequest;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.replica.grants.Footprint;
import org.globalfs.replica.grants.GrantTable;
import org.globalfs.replica.grants.Update;
import org.globalfs.replica.state.Child;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.model.Effect;
import org.globalfs.replica.state.model.Verdict;
import org.globalfs.replica.state.operations.Held;
import org.jspecify.annotations.Nullable;

/**
 * Gives grants with replies of the home partition while this replica coordinates it, and has
 * conflicting ones given back before an update is proposed.
 *
 * <p>Changes that ring 0 brings into the partition are executed by imports. Why nothing granted is
 * stale after the decision of a coordinated operation: its vote is proposed only once every grant
 * of what it may change here has been given back or has run out ({@link #cleared}), and from the
 * prepare's execution to the decision's nothing of that is granted ({@link PartitionState#held}),
 * whoever coordinates. So a session that has seen a name leave another partition cannot hold it by
 * a grant of this one. Excepted is the session that asked for the operation: its kernel keeps the
 * directories locked until the answer, and its mount forgets them with it; what it holds is given
 * back before others are told of the operation, as with any update ({@link GrantTable}). What other
 * imports change (link counts, by the removal of a name in the global partition) is recalled right
 * after.
 */
final class Grants {

    /**
     * For clocks that don't run quite equally, and for the time between asking for the lease and
     * using it.
     */
    private static final long MARGIN_MS = 20;

    private static final long LEAST_LEASE_MS = 100;

    /** Several fit the coordinator's lease of 400 ms, so that one that is late does no harm. */
    private static final long POLL_NS = 100_000_000L;

    private static final long LOST_NS = 10_000_000_000L;

    private final HostedPartition partition;
    private final HostedPartition global;
    private final Multicast multicast;
    private final GrantTable table;
    private final Queue<Permit> unknown = new ConcurrentLinkedQueue<>();
    private final Map<Long, GrantTable.Clearing> clearings = new ConcurrentHashMap<>();

    /**
     * Taken before the state is looked at: what is seen can be granted while the lease known by
     * then runs, but for what a coordinated operation could change.
     */
    record Ticket(long stamp, long leaseUntilNs, Collection<Held> held) {}

    /** The right to propose one update: conflicting grants are given back. */
    final class Permit {
        private final Update update;
        private final long leaseUntilNs;
        private final long appliedThrough;
        private final long sinceNs = System.nanoTime();
        private volatile Runnable forget = () -> {};

        Permit(Update update, long leaseUntilNs, long appliedThrough) {
            this.update = update;
            this.leaseUntilNs = leaseUntilNs;
            this.appliedThrough = appliedThrough;
        }

        /** The update was executed, or will never be. */
        void end() {
            table.end(update);
        }

        /** Executed after the call had ended: its session may never get the answer. */
        private void executedUnheard(UpdateReply reply) {
            if (hasChanged(reply)) {
                table.endUnheard(update, touched(reply));
            } else {
                table.withdraw(update);
            }
        }

        /** Executed: what is granted with the answer. */
        UpdateReply executed(UpdateReply reply, long deadlineNs) throws InterruptedException {
            boolean changed = hasChanged(reply);
            table.executed(update, changed);
            if (!changed) {
                // What it met may be what another session is being told.
                var _ = table.awaitRecalled(update, deadlineNs);
                return reply;
            }
            List<Long> touched = new ArrayList<>(4);
            add(touched, reply.getAttributes());
            add(touched, reply.getParent());
            add(touched, reply.getNewParent());
            List<Long> answered = List.copyOf(touched);
            if (reply.isSetRemoved() && isHere(reply.getRemoved())) {
                touched.add(reply.getRemoved());
            }
            table.touched(update, touched);
            if (!table.awaitRecalled(update, deadlineNs) || System.nanoTime() - leaseUntilNs >= 0) {
                return reply;
            }
            // Executed by an earlier attempt: others may have changed since what it says.
            boolean repeated = reply.getPosition().getInstance() <= appliedThrough;
            if (repeated || isHeld(answered)) {
                return reply;
            }
            GrantTable.Lease lease = table.grantResult(update, answered, leaseMs());
            return lease.ms() == 0
                    ? reply
                    : new UpdateReply(reply).setLeaseMs(lease.ms()).setLease(lease.number());
        }
    }

    /**
     * @param heapBytes the replica's share of the process's heap
     */
    Grants(HostedPartition partition, HostedPartition global, Multicast multicast, long heapBytes) {
        this.partition = partition;
        this.global = global;
        this.multicast = multicast;
        // Not from the clock: it may be behind where it was before a restart.
        this.table =
                new GrantTable(System::nanoTime, new SecureRandom().nextLong(1L << 62), heapBytes);
    }

    private long leaseMs() {
        long leaseMs = multicast.leaseRemainingMs(partition.partition()) - MARGIN_MS;
        return leaseMs < LEAST_LEASE_MS ? 0 : leaseMs;
    }

    private boolean isHere(long ino) {
        return partition.use(state -> state.isHere(ino));
    }

    private void add(List<Long> inodes, @Nullable Attributes attributes) {
        if (attributes != null
                && isHere(attributes.getIno())
                && !inodes.contains(attributes.getIno())) {
            inodes.add(attributes.getIno());
        }
    }

    private static boolean hasChanged(UpdateReply reply) {
        return reply.getStatus() == Status.DONE && reply.getErrno() == 0;
    }

    /** All that an answer says of what the update changed, wherever it lives. */
    private static List<Long> touched(UpdateReply reply) {
        List<Long> inodes = new ArrayList<>(4);
        for (Attributes attributes :
                new @Nullable Attributes[] {
                    reply.getAttributes(), reply.getParent(), reply.getNewParent()
                }) {
            if (attributes != null) {
                inodes.add(attributes.getIno());
            }
        }
        if (reply.isSetRemoved()) {
            inodes.add(reply.getRemoved());
        }
        return inodes;
    }

    /** Admits an update; null: conflicting updates or grants stay until the deadline. */
    @Nullable Permit admit(Command command, long deadlineNs) throws InterruptedException {
        long leaseUntilNs = System.nanoTime() + leaseMs() * 1_000_000;
        Update update =
                table.begin(
                        command.getSession(),
                        command.getSequence(),
                        Footprint.of(command.getOp()),
                        this::child,
                        deadlineNs);
        if (update == null) {
            return null;
        }
        boolean admitted = false;
        long appliedThrough;
        try {
            appliedThrough = partition.applied();
            admitted = table.awaitRecalled(update, deadlineNs);
        } finally {
            if (!admitted) {
                table.withdraw(update);
            }
        }
        return admitted ? new Permit(update, leaseUntilNs, appliedThrough) : null;
    }

    private long child(Footprint.Name name) {
        Child child =
                isHere(name.parent())
                        ? partition.use(s -> s.child(name.parent(), name.bytes()))
                        : null;
        return child == null || !isHere(child.ino()) ? 0 : child.ino();
    }

    /** The call ends before its update was executed: the permit stays in force until it is. */
    void leave(Permit permit, Waiters.Waiter waiter) {
        permit.forget = waiter.whenExecuted(permit::executedUnheard);
        unknown.add(permit);
    }

    /**
     * Now and then: permits whose updates will not be executed any more end, and what is left of
     * sessions that have gone and of operations whose decision was skipped by a checkpoint.
     */
    void tick() {
        table.expire();
        Set<Long> known = Set.copyOf(clearings.keySet());
        Set<Long> open = partition.use(PartitionState::held).keySet();
        known.stream()
                .filter(transaction -> !open.contains(transaction))
                .forEach(clearings::remove);
        int ring = partition.partition();
        boolean coordinator = multicast.isCoordinator(ring);
        boolean leased = multicast.leaseRemainingMs(ring) > 0;
        long nowNs = System.nanoTime();
        unknown.removeIf(permit -> {
            // With a lease there is a majority, so that what was proposed long ago is executed or
            // was lost.
            boolean over = !coordinator || leased && nowNs - permit.sinceNs > LOST_NS;
            if (over) {
                permit.forget.run();
                permit.end();
            }
            return over || permit.update.ended();
        });
    }

    Ticket ticket() {
        return new Ticket(
                table.stamp(),
                System.nanoTime() + leaseMs() * 1_000_000,
                partition.use(PartitionState::held).values());
    }

    /** Grants what a strong read answers. */
    ReadReply grant(ReadRequest request, ReadReply reply, Ticket ticket) {
        if (reply.getStatus() != Status.DONE) {
            return reply; // it says nothing but whom to ask
        }
        List<Long> inodes = seen(request, reply);
        if (inodes.isEmpty()
                || System.nanoTime() - ticket.leaseUntilNs >= 0
                || isHeld(inodes, ticket.held)
                || isHeld(inodes)) {
            return reply;
        }
        GrantTable.Lease lease = table.grant(request.getSession(), inodes, ticket.stamp, leaseMs());
        return lease.ms() == 0 ? reply : reply.setLeaseMs(lease.ms()).setLease(lease.number());
    }

    /** Whether a coordinated operation that is not decided here may change one of them. */
    private boolean isHeld(List<Long> inodes) {
        return isHeld(inodes, partition.use(PartitionState::held).values());
    }

    private static boolean isHeld(List<Long> inodes, Collection<Held> operations) {
        return operations.stream()
                .anyMatch(held -> inodes.stream().anyMatch(held.inodes()::contains));
    }

    /**
     * Before a strong read is answered: waits until no other session can read any more what was
     * before an update of its own that this answer may show, and names such updates of the reader;
     * false: not by the deadline.
     */
    boolean awaitSettled(ReadRequest request, ReadReply reply, long deadlineNs)
            throws InterruptedException {
        Set<Long> inodes = new LinkedHashSet<>(seen(request, reply));
        // A refusal tells of it too.
        inodes.add(Reads.subject(request.getOp()));
        Set<Long> own = new TreeSet<>();
        GrantTable.Clearing clearing = table.seen(request.getSession(), inodes, own);
        if (request.isSetSettledBelow()) {
            long below = request.getSettledBelow();
            List<Long> unsettled = request.isSetUnsettled() ? request.getUnsettled() : List.of();
            own.removeIf(sequence -> sequence < below && !unsettled.contains(sequence));
            if (!own.isEmpty()) {
                reply.setAwaits(List.copyOf(own));
            }
        }
        return table.awaitRecalled(clearing, deadlineNs);
    }

    private List<Long> seen(ReadRequest request, ReadReply reply) {
        List<Long> inodes = new ArrayList<>(2);
        boolean found = reply.getErrno() == 0;
        switch (request.getOp().getSetField()) {
            case LOOKUP -> {
                // Whether the name is absent or present, the directory says so; a refused caller
                // learns nothing.
                if (found || reply.isSetParent()) {
                    inodes.add(request.getOp().getLookup().getParent());
                    add(inodes, reply.getAttributes());
                }
            }
            case GET_ATTRIBUTES ->
                    addIf(found, inodes, request.getOp().getGetAttributes().getIno());
            case OPEN -> addIf(found, inodes, request.getOp().getOpen().getIno());
            case CONTENT -> addIf(found, inodes, request.getOp().getContent().getIno());
            case READ_LINK -> addIf(found, inodes, request.getOp().getReadLink().getIno());
            case GET_XATTR -> addIf(found, inodes, request.getOp().getGetXattr().getIno());
            case LIST_XATTR -> addIf(found, inodes, request.getOp().getListXattr().getIno());
            case READ_DIRECTORY -> {
                if (found) {
                    inodes.add(request.getOp().getReadDirectory().getIno());
                    for (DirectoryEntry entry : reply.getEntries()) {
                        Attributes attributes = entry.getAttributes();
                        if (attributes != null && isHere(attributes.getIno())) {
                            inodes.add(attributes.getIno());
                        }
                    }
                }
            }
            case GET_LOCK, STAT_FS, QUOTA -> {}
        }
        return inodes;
    }

    private static void addIf(boolean found, List<Long> inodes, long ino) {
        if (found) {
            inodes.add(ino);
        }
    }

    RecallReply recalls(RecallRequest request) throws InterruptedException {
        int ring = partition.partition();
        if (request.getPartition() != ring || !multicast.isCoordinator(ring)) {
            int coordinator =
                    request.getPartition() == ring ? multicast.coordinator(ring) : Multicast.NONE;
            return new RecallReply(Status.REDIRECT).setCoordinator(coordinator);
        }
        table.settled(
                request.getSession(),
                request.getSettledBelow(),
                request.isSetUnsettled() ? request.getUnsettled() : List.of());
        GrantTable.Recalls recalls =
                table.poll(
                        request.getSession(),
                        request.getAcknowledged(),
                        this::leaseMs,
                        System.nanoTime() + POLL_NS);
        RecallReply reply = new RecallReply(Status.DONE);
        if (!recalls.recalled().isEmpty()) {
            reply.setNumber(recalls.number()).setInodes(recalls.recalled());
        }
        if (recalls.lease().ms() > 0) {
            reply.setLeaseMs(recalls.lease().ms()).setLease(recalls.lease().number());
        }
        return reply;
    }

    /** After an instance of the home ring; before its votes are proposed. */
    void executed(List<Entry> entries) {
        for (Entry entry : entries) {
            if (entry instanceof Entry.Import imported) {
                global.verdicts(partition.partition(), imported.instance()).forEach(this::executed);
            }
        }
    }

    private void executed(Verdict verdict) {
        switch (verdict) {
            case Verdict.Prepare prepare -> {
                long transaction = prepare.transaction();
                Held held = partition.use(PartitionState::held).get(transaction);
                if (held != null) {
                    Command command = CommandBytes.command(prepare.command());
                    // The kernel keeps names still that it was asked to change, but not a tree.
                    long session = held.leaving().isEmpty() ? command.getSession() : 0;
                    clearings.put(
                            transaction,
                            table.clear(session, command.getSequence(), held.inodes()));
                }
            }
            case Verdict.Commit commit -> {
                clearings.remove(commit.transaction());
                table.changedFromOutside(inodes(commit.effects()));
            }
            case Verdict.Abort abort -> clearings.remove(abort.transaction());
        }
    }

    /**
     * Whether no session but its own relies on what a coordinated operation may change here: then
     * none ever will before the decision's import, and its vote may be proposed. False also while
     * this replica cannot know, because others may be granting.
     */
    boolean cleared(long transaction) {
        Held held = partition.use(PartitionState::held).get(transaction);
        if (held == null) {
            return true; // decided meanwhile
        }
        // Prepared before this process began; or just now, and its delivery has not come here yet.
        GrantTable.Clearing clearing =
                clearings.computeIfAbsent(transaction, key -> table.clear(0, 0, held.inodes()));
        return table.isClear(clearing) && multicast.leaseRemainingMs(partition.partition()) > 0;
    }

    /** Of how many undecided operations it is known what they wait for. */
    int operations() {
        return clearings.size();
    }

    /** To be run when {@link #cleared} may have become true. */
    void onGiven(Runnable listener) {
        table.onGiven(() -> {
            if (!clearings.isEmpty()) {
                listener.run();
            }
        });
    }

    private static Collection<Long> inodes(List<Effect> effects) {
        List<Long> inodes = new ArrayList<>();
        for (Effect effect : effects) {
            switch (effect) {
                case Effect.RemoveEntry e -> inodes.add(e.parent());
                case Effect.PutEntry e -> inodes.addAll(List.of(e.parent(), e.ino()));
                case Effect.DropLink e -> inodes.add(e.ino());
                case Effect.AddLink e -> inodes.add(e.ino());
                case Effect.Renamed e -> inodes.addAll(List.of(e.ino(), e.parent()));
                case Effect.Depart e -> inodes.addAll(e.inodes());
                case Effect.GlobalBelow _,
                        Effect.Arrive _,
                        Effect.Forward _,
                        Effect.Forget _,
                        Effect.TakeBack _,
                        Effect.Delivered _,
                        Effect.Copied _,
                        Effect.Discard _ -> {}
                case Effect.CreateDirectory e -> inodes.addAll(List.of(e.ino(), e.parent()));
            }
        }
        return inodes;
    }
}
