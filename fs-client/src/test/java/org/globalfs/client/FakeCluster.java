package org.globalfs.client;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.globalfs.client.meta.NoReplyException;
import org.globalfs.client.meta.Replica;
import org.globalfs.client.meta.ReplicaCalls;
import org.globalfs.client.meta.ReplicaDirectory;
import org.globalfs.multicast.Entry;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.HybridClock;
import org.globalfs.protocol.wire.Attributes;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.DirectoryEntry;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.RecallReply;
import org.globalfs.protocol.wire.RecallRequest;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.UpdateRequest;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.ResultListener;
import org.globalfs.replica.state.operations.Wire;
import org.globalfs.replica.state.store.StateOptions;
import org.jspecify.annotations.Nullable;

/**
 * The real state machines of partition 0 and of some regions behind the seam of {@link
 * ReplicaCalls}: three replicas a region that share one state, a coordinator each, and faults to
 * order. With {@link #leaseMs} above 0 coordinators give grants and recall them.
 */
public final class FakeCluster implements ReplicaDirectory, AutoCloseable {

    private final Map<Integer, PartitionState> states = new TreeMap<>();
    private final Map<String, UpdateReply> replies = new HashMap<>();
    private final List<Replica> replicas = new ArrayList<>();
    private final Map<Integer, Integer> coordinators = new ConcurrentHashMap<>();
    private long timestamp;

    /** Nobody listens there. */
    public final Set<Integer> dead = ConcurrentHashMap.newKeySet();

    /** They take calls and say nothing. */
    public final Set<Integer> silent = ConcurrentHashMap.newKeySet();

    /** Replicas that hear of no coordinator of partition 0. */
    public final Set<Integer> cutOff = ConcurrentHashMap.newKeySet();

    /** So many next updates are executed and their replies lost. */
    public final AtomicInteger lostReplies = new AtomicInteger();

    /** So many next updates are answered RETRY without being executed. */
    public final AtomicInteger retries = new AtomicInteger();

    /** Updates that are answered RETRY, and executed by {@link #executeLate}. */
    public volatile Predicate<UpdateOp> late = op -> false;

    private final Map<Command, Integer> delayed = new LinkedHashMap<>();

    /** Updates that fail at the replica, with {@link #refusal}. */
    public volatile Predicate<UpdateOp> refused = op -> false;

    public volatile Errno refusal = Errno.EIO;

    /** Called when an update has been executed, before its sender gets the reply. */
    public volatile Consumer<Command> beforeReply = command -> {};

    /** Of each update that reached a replica, whether its sender said that it was sent before. */
    public final List<Boolean> again = new CopyOnWriteArrayList<>();

    public final List<Command> executed = new ArrayList<>();
    public final AtomicInteger reads = new AtomicInteger();

    /** Runs before a read is answered. */
    public volatile Runnable beforeRead = () -> {};

    /** Runs when a read has been answered, before who asked gets to know. */
    public volatile Runnable afterRead = () -> {};

    /** Is told each answer to a read. */
    public volatile Consumer<ReadReply> answered = reply -> {};

    public final AtomicInteger updates = new AtomicInteger();
    public final List<Integer> asked = new ArrayList<>();
    public volatile int leaseMs;

    private record Grant(long session, long ino) {}

    private final Set<Grant> grants = new HashSet<>();
    private final Map<Long, Long> leaseEndsNs = new HashMap<>();
    private final Map<Long, TreeMap<Long, Long>> recalls = new HashMap<>();
    private final Map<Long, Integer> busy = new HashMap<>();
    private long recallNumber;

    /** The session of what is planted, and its last sequence number. */
    private static final long PLANTER = 77;

    private long planted;

    public FakeCluster(Path folder, int regions) {
        StateOptions small = new StateOptions(4 << 20, 4 << 20);
        for (int partition = 0; partition <= regions; partition++) {
            states.put(
                    partition,
                    PartitionState.open(folder.resolve("p" + partition), partition, small));
        }
        for (int region = 1; region <= regions; region++) {
            for (int datacenter = 1; datacenter <= 3; datacenter++) {
                int id = (region - 1) * 3 + datacenter;
                replicas.add(
                        new Replica(
                                id,
                                region,
                                "region" + region,
                                "dc" + datacenter,
                                "localhost",
                                1000 + id));
            }
            coordinators.put(region, (region - 1) * 3 + 1);
        }
    }

    public void coordinator(int partition, int replica) {
        coordinators.put(partition, replica);
    }

    /** Another coordinator, once every lease of the old one has run out; it knows of no grants. */
    public synchronized void moveCoordinator(int partition, int replica) {
        coordinators.put(partition, -1);
        while (leaseEndsNs.values().stream().anyMatch(end -> end - System.nanoTime() > 0)) {
            waitMs(10);
        }
        grants.clear();
        recalls.clear();
        coordinators.put(partition, replica);
    }

    public PartitionState state(int partition) {
        return java.util.Objects.requireNonNull(states.get(partition));
    }

    @Override
    public List<Replica> replicas() {
        return replicas;
    }

    public ReplicaCalls calls() {
        return new ReplicaCalls() {
            @Override
            public UpdateReply update(Replica replica, UpdateRequest request, long timeoutMs)
                    throws NoReplyException {
                reach(replica);
                return FakeCluster.this.update(replica, request);
            }

            @Override
            public ReadReply read(Replica replica, ReadRequest request, long timeoutMs)
                    throws NoReplyException {
                reach(replica);
                ReadReply reply = FakeCluster.this.read(replica, request);
                answered.accept(reply);
                afterRead.run();
                return reply;
            }

            @Override
            public RecallReply recalls(Replica replica, RecallRequest request, long timeoutMs)
                    throws NoReplyException {
                reach(replica);
                return FakeCluster.this.recalls(replica, request);
            }

            @Override
            public void close() {}
        };
    }

    private void reach(Replica replica) throws NoReplyException {
        synchronized (asked) {
            asked.add(replica.id());
        }
        if (dead.contains(replica.id())) {
            throw new NoReplyException(NoReplyException.Kind.UNREACHABLE, "connection refused");
        }
        if (silent.contains(replica.id())) {
            throw new NoReplyException(NoReplyException.Kind.SILENT, "no reply in time");
        }
    }

    private @Nullable Integer redirect(Replica replica, int partition) {
        if (partition == 0) {
            return null;
        }
        int coordinator = java.util.Objects.requireNonNull(coordinators.get(partition));
        return coordinator == replica.id()
                ? null
                : dead.contains(coordinator) ? Integer.valueOf(-1) : coordinator;
    }

    private UpdateReply update(Replica replica, UpdateRequest request) throws NoReplyException {
        updates.incrementAndGet();
        again.add(request.isAgain());
        int partition = request.getPartition();
        Command command = request.getCommand();
        Integer elsewhere = redirect(replica, partition);
        if (elsewhere != null) {
            return new UpdateReply(Status.REDIRECT, 0).setCoordinator(elsewhere);
        }
        if (partition == 0 && cutOff.contains(replica.id())) {
            return new UpdateReply(Status.RETRY, 0).setCutOff(true);
        }
        if (retries.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            return new UpdateReply(Status.RETRY, 0);
        }
        if (late.test(command.getOp())) {
            synchronized (this) {
                delayed.put(command, partition);
            }
            return new UpdateReply(Status.RETRY, 0);
        }
        if (refused.test(command.getOp())) {
            return new UpdateReply(Status.DONE, refusal.number());
        }
        Set<Long> touched = leaseMs > 0 ? touched(partition, command.getOp()) : Set.of();
        recall(command.getSession(), touched);
        UpdateReply reply;
        synchronized (this) {
            reply = execute(partition, command);
            reply.setPosition(new Position(partition, state(partition).applied()));
            if (partition != 0) {
                reply.setGlobalSeen(state(partition).globalSeen());
            }
            unbusy(touched);
            if (leaseMs > 0
                    && partition != 0
                    && reply.getStatus() == Status.DONE
                    && reply.getErrno() == 0) {
                grantUpdate(command.getSession(), reply);
            }
        }
        beforeReply.accept(command);
        if (lostReplies.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            throw new NoReplyException(NoReplyException.Kind.SILENT, "reply lost");
        }
        return reply;
    }

    /** As found by a coordinator that had lost touch with the others for a while. */
    public synchronized void executeLate() {
        delayed.forEach((command, partition) -> execute(partition, command));
        delayed.clear();
    }

    private UpdateReply execute(int partition, Command command) {
        String key = command.getSession() + "/" + command.getSequence();
        replies.remove(key);
        deliver(partition, stamped(command));
        settle();
        UpdateReply reply = replies.remove(key);
        if (reply == null) {
            return new UpdateReply(Status.RETRY, 0);
        }
        executed.add(command);
        return new UpdateReply(reply);
    }

    private Entry stamped(Command command) {
        timestamp = HybridClock.next(timestamp, System.currentTimeMillis());
        return new Entry.Command(timestamp, Wire.encode(command), new int[0]);
    }

    /** A command of the replicas themselves. */
    public synchronized void internal(int partition, UpdateOp op) {
        deliver(partition, stamped(new Command(0, 0, 0, new Credentials(0, 0), 0, op)));
    }

    /** Root's commands that nobody waits for, in one instance: the quick way to many records. */
    public synchronized void plant(int partition, List<UpdateOp> ops) {
        List<Entry> entries = new ArrayList<>();
        for (UpdateOp op : ops) {
            planted++;
            entries.add(
                    stamped(
                            new Command(
                                    PLANTER, planted, planted - 1, new Credentials(0, 0), 0, op)));
        }
        deliver(partition, entries, (session, sequence, reply) -> {});
    }

    private void deliver(int partition, Entry entry) {
        deliver(
                partition,
                List.of(entry),
                (session, sequence, reply) -> replies.put(session + "/" + sequence, reply));
    }

    private void deliver(int partition, List<Entry> entries, ResultListener listener) {
        PartitionState state = state(partition);
        state.deliver(state.applied() + 1, entries, partition == 0 ? null : state(0), listener);
    }

    private void settle() {
        boolean any = true;
        while (any) {
            any = false;
            for (int partition : states.keySet()) {
                if (partition > 0) {
                    long next =
                            state(0).nextConcerning(partition, state(partition).importedThrough());
                    if (next >= 0) {
                        deliver(partition, new Entry.Import(next));
                        any = true;
                    }
                    for (VoteOp vote : state(partition).pendingVotes()) {
                        deliver(
                                0,
                                stamped(
                                        new Command(
                                                0,
                                                0,
                                                0,
                                                new Credentials(0, 0),
                                                0,
                                                UpdateOp.vote(vote))));
                        any = true;
                    }
                }
            }
        }
    }

    private ReadReply read(Replica replica, ReadRequest request) {
        reads.incrementAndGet();
        beforeRead.run();
        Integer elsewhere = redirect(replica, request.getPartition());
        if (elsewhere != null) {
            return new ReadReply(Status.REDIRECT, 0, new Position(request.getPartition(), 0))
                    .setCoordinator(elsewhere);
        }
        synchronized (this) {
            ReadReply reply = state(request.getPartition()).read(request);
            if (leaseMs > 0 && request.getPartition() != 0) {
                grantRead(request.getSession(), reply);
            }
            boolean alone = request.getPartition() == 0 && cutOff.contains(replica.id());
            return alone ? reply.setCutOff(true) : reply;
        }
    }

    private void grantRead(long session, ReadReply reply) {
        List<Attributes> told = new ArrayList<>();
        if (reply.isSetAttributes()) {
            told.add(reply.getAttributes());
        }
        if (reply.isSetParent()) {
            told.add(reply.getParent());
        }
        if (reply.isSetEntries()) {
            for (DirectoryEntry entry : reply.getEntries()) {
                if (entry.isSetAttributes()) {
                    told.add(entry.getAttributes());
                }
            }
        }
        if (grantAll(session, told)) {
            reply.setLeaseMs(leaseMs);
        }
    }

    private void grantUpdate(long session, UpdateReply reply) {
        List<Attributes> told = new ArrayList<>();
        for (Attributes attributes :
                new Attributes[] {reply.getAttributes(), reply.getParent(), reply.getNewParent()}) {
            if (attributes != null) {
                told.add(attributes);
            }
        }
        if (grantAll(session, told)) {
            reply.setLeaseMs(leaseMs);
        }
    }

    /** All or nothing: not while another update of one of them waits for grants to come back. */
    private boolean grantAll(long session, List<Attributes> told) {
        if (told.isEmpty()
                || told.stream().anyMatch(attributes -> busy.containsKey(attributes.getIno()))) {
            return false;
        }
        told.forEach(attributes -> grant(session, attributes));
        return true;
    }

    private void grant(long session, @Nullable Attributes attributes) {
        if (attributes != null) {
            grants.add(new Grant(session, attributes.getIno()));
            leaseEndsNs.merge(session, System.nanoTime() + leaseMs * 1_000_000L, Math::max);
        }
    }

    private Set<Long> touched(int partition, UpdateOp op) {
        Set<Long> result = new HashSet<>();
        switch (op.getSetField()) {
            case CREATE -> result.add(op.getCreate().getParent());
            case UNLINK -> {
                result.add(op.getUnlink().getParent());
                child(partition, op.getUnlink().getParent(), op.getUnlink().getName(), result);
            }
            case RENAME -> {
                result.add(op.getRename().getParent());
                result.add(op.getRename().getNewParent());
                child(partition, op.getRename().getParent(), op.getRename().getName(), result);
                child(
                        partition,
                        op.getRename().getNewParent(),
                        op.getRename().getNewName(),
                        result);
            }
            case LINK -> {
                result.add(op.getLink().getIno());
                result.add(op.getLink().getNewParent());
            }
            case SET_ATTRIBUTES -> result.add(op.getSetAttributes().getIno());
            case WRITE -> result.add(op.getWrite().getIno());
            case ALLOCATE -> result.add(op.getAllocate().getIno());
            case COPY_RANGE -> result.add(op.getCopyRange().getIno());
            case COMPACT -> result.add(op.getCompact().getIno());
            case SET_XATTR -> result.add(op.getSetXattr().getIno());
            case SET_QUOTA -> result.add(op.getSetQuota().getIno());
            case REMOVE_XATTR -> result.add(op.getRemoveXattr().getIno());
            default -> {}
        }
        return result;
    }

    private void child(int partition, long parent, byte[] name, Set<Long> into) {
        var child = state(partition).child(parent, name);
        if (child != null) {
            into.add(child.ino());
        }
    }

    private synchronized void recall(long session, Set<Long> inodes) {
        inodes.forEach(ino -> busy.merge(ino, 1, Integer::sum));
        for (Grant grant : Set.copyOf(grants)) {
            if (grant.session != session && inodes.contains(grant.ino)) {
                recalls.computeIfAbsent(grant.session, key -> new TreeMap<>())
                        .put(++recallNumber, grant.ino);
            }
        }
        notifyAll();
        while (grants.stream()
                .anyMatch(grant ->
                        grant.session != session
                                && inodes.contains(grant.ino)
                                && leaseEndsNs.getOrDefault(grant.session, 0L) - System.nanoTime()
                                        > 0)) {
            waitMs(20);
        }
        grants.removeIf(grant -> grant.session != session && inodes.contains(grant.ino));
    }

    private void unbusy(Set<Long> inodes) {
        inodes.forEach(
                ino -> busy.computeIfPresent(ino, (key, count) -> count == 1 ? null : count - 1));
    }

    private synchronized RecallReply recalls(Replica replica, RecallRequest request) {
        Integer elsewhere = redirect(replica, request.getPartition());
        if (elsewhere != null) {
            return new RecallReply(Status.REDIRECT).setCoordinator(elsewhere);
        }
        long session = request.getSession();
        TreeMap<Long, Long> queue = recalls.computeIfAbsent(session, key -> new TreeMap<>());
        Map<Long, Long> done = queue.headMap(request.getAcknowledged(), true);
        done.values().forEach(ino -> grants.remove(new Grant(session, ino)));
        done.clear();
        notifyAll();
        leaseEndsNs.merge(session, System.nanoTime() + leaseMs * 1_000_000L, Math::max);
        if (queue.isEmpty()) {
            waitMs(Math.max(1, leaseMs / 3));
        }
        RecallReply reply = new RecallReply(Status.DONE).setLeaseMs(leaseMs);
        if (!queue.isEmpty()) {
            reply.setNumber(queue.lastKey()).setInodes(new ArrayList<>(queue.values()));
        }
        return reply;
    }

    /** A wake-up too early does no harm: callers look again. */
    @SuppressWarnings("WaitNotInLoop")
    private void waitMs(long ms) {
        try {
            wait(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public synchronized void close() {
        states.values().forEach(PartitionState::close);
    }
}
