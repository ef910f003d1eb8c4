package org.globalfs.replica.state;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.globalfs.multicast.Entry;
import org.globalfs.protocol.HybridClock;
import org.globalfs.protocol.wire.Command;
import org.globalfs.protocol.wire.Credentials;
import org.globalfs.protocol.wire.NoticesOp;
import org.globalfs.protocol.wire.Status;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.UpdateReply;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.replica.state.operations.Wire;
import org.globalfs.replica.state.store.StateOptions;
import org.jspecify.annotations.Nullable;

/**
 * Partition 0 and regional partitions with their logs, driven by hand: what multicast and the
 * replica do in a process, without threads. Every log is kept, so that a state can be replayed.
 */
final class Rings implements PartitionStates, AutoCloseable {

    static final StateOptions SMALL = new StateOptions(4 << 20, 4 << 20);

    /** One delivered instance. */
    record Instance(long number, List<Entry> entries) {}

    private final Path folder;
    private final Map<Integer, PartitionState> states = new TreeMap<>();
    private final Map<Integer, List<Instance>> logs = new TreeMap<>();
    private final Map<String, UpdateReply> replies = new HashMap<>();
    private final Map<Integer, Path> folders = new HashMap<>();
    private long wallMs = 1_000_000;
    private long timestamp;
    private final Map<Long, Long> sequences = new HashMap<>();

    Rings(Path folder, int regions) {
        this.folder = folder;
        for (int partition = 0; partition <= regions; partition++) {
            Path home = folder.resolve("p" + partition);
            folders.put(partition, home);
            states.put(partition, PartitionState.open(home, partition, SMALL));
            logs.put(partition, new ArrayList<>());
        }
    }

    @Override
    public PartitionState state(int partition) {
        return Objects.requireNonNull(states.get(partition));
    }

    List<Instance> log(int partition) {
        return Objects.requireNonNull(logs.get(partition));
    }

    void passMs(long ms) {
        wallMs += ms;
    }

    long nowNs() {
        return HybridClock.wallMs(timestamp) * 1_000_000 + HybridClock.counter(timestamp);
    }

    Entry.Command stamped(Command command) {
        timestamp = HybridClock.next(timestamp, wallMs);
        return new Entry.Command(timestamp, Wire.encode(command), new int[0]);
    }

    /** Delivers one instance of a ring. */
    void deliver(int partition, List<Entry> entries) {
        Instance instance = new Instance(state(partition).applied() + 1, entries);
        log(partition).add(instance);
        deliver(partition, instance);
    }

    private void deliver(int partition, Instance instance) {
        state(partition)
                .deliver(
                        instance.number,
                        instance.entries,
                        partition == 0 ? null : state(0),
                        (session, sequence, reply) -> replies.put(session + "/" + sequence, reply));
    }

    /** Imports everything that concerns a partition. */
    boolean importInto(int partition) {
        boolean any = false;
        while (importOne(partition)) {
            any = true;
        }
        return any;
    }

    /** Imports the next instance that concerns a partition; false when there is none. */
    boolean importOne(int partition) {
        long next = state(0).nextConcerning(partition, state(partition).importedThrough());
        if (next >= 0) {
            deliver(partition, List.of(new Entry.Import(next)));
        }
        return next >= 0;
    }

    /** Imports and votes until nothing is left to do. */
    void settle() {
        boolean busy = true;
        while (busy) {
            busy = false;
            for (int partition : states.keySet()) {
                if (partition > 0) {
                    busy |= importInto(partition);
                    busy |= vote(partition);
                }
                busy |= deliverNotices(partition);
            }
        }
    }

    /** Lets a partition vote on everything it has prepared; false when nothing was open. */
    boolean vote(int partition) {
        List<VoteOp> votes = state(partition).pendingVotes();
        for (VoteOp vote : votes) {
            internal(0, UpdateOp.vote(vote));
        }
        return !votes.isEmpty();
    }

    /** Takes the answer to a command, so that the next one is seen as new. */
    @Nullable UpdateReply takeReply(Command command) {
        return replies.remove(command.getSession() + "/" + command.getSequence());
    }

    void internal(int partition, UpdateOp op) {
        Command command = new Command(0, 0, 0, new Credentials(0, 0), 0, op);
        deliver(partition, List.of(stamped(command)));
    }

    Command command(long session, int uid, int origin, UpdateOp op) {
        long sequence = sequences.merge(session, 1L, Long::sum);
        return new Command(session, sequence, sequence, new Credentials(uid, uid), origin, op);
    }

    /** The same under a new number. */
    Command anew(Command command) {
        long sequence = sequences.merge(command.getSession(), 1L, Long::sum);
        return new Command(command).setSequence(sequence);
    }

    @Nullable UpdateReply reply(Command command) {
        return replies.get(command.getSession() + "/" + command.getSequence());
    }

    /** Proposes, delivers, settles and escalates as a client does, until there is an answer. */
    UpdateReply run(int partition, Command command) {
        int at = partition;
        Command sent = command;
        Set<Integer> declined = new HashSet<>();
        for (int attempt = 0; attempt < 10; attempt++) {
            replies.remove(sent.getSession() + "/" + sent.getSequence());
            deliver(at, List.of(stamped(sent)));
            settle();
            UpdateReply reply = Objects.requireNonNull(reply(sent), "no reply");
            if (reply.getStatus() == Status.DONE) {
                return reply;
            }
            if (reply.getStatus() == Status.ESCALATE) {
                declined.add(at);
                Escalation next = Escalation.of(sent, reply);
                at = next.partition();
                sent = next.command();
                if (at != 0 && declined.contains(at)) {
                    sent = anew(command);
                    declined.clear();
                }
            }
        }
        throw new AssertionError("no end: " + command);
    }

    /** Passes on what a partition owes others; false when that is nothing. */
    boolean deliverNotices(int partition) {
        PartitionState.Owed owed = state(partition).owed(100);
        if (owed.notices().isEmpty()) {
            return false;
        }
        List<ByteBuffer> notices = owed.notices().stream().map(ByteBuffer::wrap).toList();
        // Whoever proposes them does not know whether somebody else has: twice does no harm.
        internal(0, UpdateOp.notices(new NoticesOp(partition, owed.first(), notices)));
        internal(0, UpdateOp.notices(new NoticesOp(partition, owed.first(), notices)));
        return true;
    }

    /**
     * Loses what was not flushed, as kill -9 does, and replays the log. Returns where it restarted
     * from.
     */
    long crash(int partition) {
        state(partition).close();
        Path home = Objects.requireNonNull(folders.get(partition));
        PartitionState reopened = PartitionState.open(home, partition, SMALL);
        states.put(partition, reopened);
        long from = reopened.applied();
        for (Instance instance : log(partition)) {
            if (instance.number > from) {
                deliver(partition, instance);
            }
        }
        return from;
    }

    @Override
    public void close() {
        states.values().forEach(PartitionState::close);
    }
}
