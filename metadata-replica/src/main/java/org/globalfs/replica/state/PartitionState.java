package org.globalfs.replica.state;

import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.wire.MembershipCodec;
import org.globalfs.multicast.wire.WireException;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.FileSystemStatistics;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.replica.state.check.CheckReport;
import org.globalfs.replica.state.check.FilesWithBlocks;
import org.globalfs.replica.state.check.PartitionCheck;
import org.globalfs.replica.state.model.Blocks;
import org.globalfs.replica.state.model.Counters;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.globalfs.replica.state.model.Verdict;
import org.globalfs.replica.state.model.VerdictCodec;
import org.globalfs.replica.state.operations.Copies;
import org.globalfs.replica.state.operations.Held;
import org.globalfs.replica.state.operations.Homes;
import org.globalfs.replica.state.operations.Machine;
import org.globalfs.replica.state.operations.Quotas;
import org.globalfs.replica.state.operations.Reads;
import org.globalfs.replica.state.operations.Sessions;
import org.globalfs.replica.state.operations.Staging;
import org.globalfs.replica.state.operations.Tree;
import org.globalfs.replica.state.store.Overlay;
import org.globalfs.replica.state.store.StateException;
import org.globalfs.replica.state.store.StateOptions;
import org.globalfs.replica.state.store.Store;
import org.globalfs.replica.state.store.StoreView;
import org.jspecify.annotations.Nullable;

/**
 * The state of one partition on disk, and the state machine that changes it.
 *
 * <p>One thread delivers. Any thread may read: a read runs without a lock and is repeated when an
 * instance was committed meanwhile; after a few such repetitions, and for long scans, it runs on a
 * snapshot. Either way it sees the state as it was after one whole instance, which is the one its
 * reply names.
 *
 * <p>Everything an instance changes is committed in one batch together with the instance's number.
 * Nothing is synced: after a crash the store stands at its last flush (RocksDB's own, or {@link
 * #flush}), at a whole instance, and the log is delivered again from there.
 */
public final class PartitionState implements VerdictSource, AutoCloseable {

    private static final int OPTIMISTIC_READS = 3;

    private final int partition;
    private final Store store;
    private final Overlay overlay;
    private final Counters counters;
    private final Machine machine;

    /**
     * Held while committing and while a snapshot is taken, so that a snapshot's position is known.
     */
    private final Object commitLock = new Object();

    /** Odd while a commit is under way; changes with every commit. */
    private volatile long epoch;

    /**
     * What readers of other threads see of the counters and of the machine, replaced after every
     * commit.
     */
    private volatile Visible visible;

    private final NewlyDoomed newlyDoomed = new NewlyDoomed();

    private volatile @Nullable Membership membership;
    private boolean closed;

    private record Visible(
            Counters counters,
            List<PendingTransaction> pending,
            List<VoteOp> votes,
            Map<Long, Held> held,
            List<Sessions.Lease> leases,
            int sessions) {}

    private PartitionState(Path folder, int partition, Store store) {
        this.partition = partition;
        this.store = store;
        overlay = new Overlay(store);
        byte[] system = overlay.get(Table.SYSTEM, Keys.system());
        if (system == null) {
            counters = new Counters(partition);
            Machine.initialize(overlay, counters);
            overlay.commit();
        } else {
            counters = Counters.decode(system);
        }
        if (counters.partition != partition) {
            throw StateException.foreign(
                    folder
                            + " holds partition "
                            + counters.partition
                            + ", not "
                            + partition
                            + ": put this partition's folder back, or remove it while all other"
                            + " replicas of its region run");
        }
        membership = storedMembership();
        machine = new Machine(overlay, counters);
        visible = look();
    }

    /**
     * Opens or creates. Reopened after a crash it stands at its last flush; deliver the log again
     * from there.
     */
    public static PartitionState open(Path folder, int partition, StateOptions options) {
        Store store = Store.open(folder, options);
        try {
            return new PartitionState(folder, partition, store);
        } catch (RuntimeException e) {
            store.close();
            throw e;
        }
    }

    private Visible look() {
        List<PendingTransaction> pending =
                machine.undecided().stream()
                        .map(t ->
                                new PendingTransaction(t.transaction(), t.timestamp(), t.missing()))
                        .toList();
        return new Visible(
                counters.copy(),
                pending,
                machine.votes(),
                machine.held(),
                machine.leases(),
                machine.sessionCount());
    }

    public int partition() {
        return partition;
    }

    /** Highest executed instance of the partition's ring; 0 before the first. */
    @Override
    public long applied() {
        return visible.counters.applied;
    }

    /** Highest timestamp executed: those of the ring go on above it. */
    public long lastTimestamp() {
        return visible.counters.timestamp;
    }

    /** What sessions' silence was measured by the last time. */
    public long silenceTime() {
        return visible.counters.sessionsNs;
    }

    /** Last instance of ring 0 imported; for partition 0 the same as {@link #applied}. */
    public long importedThrough() {
        return visible.counters.importedThrough;
    }

    /** Highest ring-0 instance that anything in this partition depends on. */
    public long globalSeen() {
        return visible.counters.globalSeen;
    }

    /**
     * Executes the next instance and commits it, then reports each command's outcome.
     *
     * @param verdicts state of partition 0; null when this is partition 0. It must have executed
     *     what is imported here
     * @throws VerdictsTrimmedException when partition 0 forgot what this partition has to import;
     *     nothing was changed
     */
    public void deliver(
            long instance,
            List<Entry> entries,
            @Nullable VerdictSource verdicts,
            ResultListener results) {
        Invariant.check(
                instance == counters.applied + 1,
                "partition %s stands at %s, got instance %s",
                partition,
                counters.applied,
                instance);
        refuseTrimmed(entries, verdicts);
        int index = 0;
        for (Entry entry : entries) {
            switch (entry) {
                case Entry.Command command ->
                        machine.execute(instance, index, command.timestamp(), command.value());
                case Entry.Import imported ->
                        importFrom(Objects.requireNonNull(verdicts), imported.instance());
                case Entry.Noop _, Entry.Skip _, Entry.Subscription _ -> {}
                case Entry.Members members -> change(members.membership());
            }
            index++;
        }
        List<Machine.Result> outcomes = machine.end(instance);
        commit();
        newlyDoomed.add(machine.takeNewlyDoomed());
        for (Machine.Result outcome : outcomes) {
            results.executed(outcome.session(), outcome.sequence(), outcome.reply());
        }
    }

    private void change(Membership next) {
        overlay.put(Table.SYSTEM, Keys.membership(), MembershipCodec.encode(next));
        membership = next;
    }

    private @Nullable Membership storedMembership() {
        byte[] stored = overlay.get(Table.SYSTEM, Keys.membership());
        try {
            return stored == null ? null : MembershipCodec.decode(stored);
        } catch (WireException e) {
            throw new StateException(
                    "the membership of ring " + partition + " is damaged: " + e.getMessage());
        }
    }

    /** The newest membership of the ring that was executed; null while it is the first one. */
    public @Nullable Membership membership() {
        return membership;
    }

    /** Before anything is executed, so that nothing has changed when it throws. */
    private void refuseTrimmed(List<Entry> entries, @Nullable VerdictSource verdicts) {
        for (Entry entry : entries) {
            if (entry instanceof Entry.Import imported
                    && imported.instance() > counters.importedThrough) {
                long trimmed = Objects.requireNonNull(verdicts).trimmedThrough(partition);
                if (trimmed > counters.importedThrough) {
                    throw new VerdictsTrimmedException(
                            partition, counters.importedThrough, trimmed);
                }
            }
        }
    }

    /**
     * An import that is not the next one is a duplicate of a take-over, or comes too early and will
     * come again.
     */
    private void importFrom(VerdictSource verdicts, long globalInstance) {
        if (globalInstance <= counters.importedThrough) {
            return;
        }
        Invariant.check(
                verdicts.applied() >= globalInstance,
                "partition 0 stands at %s, import of %s is too early",
                verdicts.applied(),
                globalInstance);
        if (verdicts.nextConcerning(partition, counters.importedThrough) == globalInstance) {
            machine.execute(globalInstance, verdicts.verdicts(partition, globalInstance));
        }
    }

    private void commit() {
        synchronized (commitLock) {
            epoch++;
            overlay.commit();
            visible = look();
            epoch++;
        }
    }

    /**
     * Answers from one consistent state; the reply's position is exactly that state's. Never waits.
     */
    public ReadReply read(ReadRequest request) {
        return consistently((records, seen) -> new Reads(records, seen).answer(request));
    }

    /** What a name in a directory points to now, without permission checks; null when absent. */
    public @Nullable Child child(long parent, byte[] name) {
        return consistently(
                        (records, seen) -> Optional.ofNullable(Tree.dentry(records, parent, name)))
                .map(dentry -> new Child(dentry.ino(), dentry.type()))
                .orElse(null);
    }

    @FunctionalInterface
    private interface Reader<T> {
        T read(Records records, Counters counters);
    }

    private <T> T consistently(Reader<T> reader) {
        for (int attempt = 0; attempt < OPTIMISTIC_READS; attempt++) {
            long before = epoch;
            Counters seen = visible.counters;
            if ((before & 1) == 0) {
                T result = reader.read(store.newest(), seen);
                if (epoch == before) {
                    return result;
                }
            }
        }
        return onSnapshot(reader);
    }

    private <T> T onSnapshot(Reader<T> reader) {
        StoreView view;
        Counters seen;
        synchronized (commitLock) {
            view = StoreView.snapshot(store);
            seen = visible.counters;
        }
        try (view) {
            return reader.read(view, seen);
        }
    }

    /**
     * Makes everything executed so far durable; returns the instance at which a reopened state
     * stands, at least.
     */
    public long flush() {
        long durable = applied();
        store.flush();
        return durable;
    }

    /**
     * Writes a copy that {@link #open} accepts into a folder that must not exist. Returns the
     * instance, at least.
     */
    public long checkpoint(Path folder) {
        long durable = flush();
        store.checkpoint(folder);
        return durable;
    }

    /** What a check of a partition found, and the instance whose state it saw. */
    public record Checked(long instance, CheckReport report) {}

    /** Whether all records agree with each other, as of now. Reads everything. */
    public Checked check() {
        return onSnapshot(
                (records, seen) -> new Checked(seen.applied, PartitionCheck.run(records, seen)));
    }

    /** Digest of all records. Reads everything: for tests and audits. */
    public StateHash hash() {
        return onSnapshot((records, seen) -> {
            MessageDigest digest = sha256();
            for (Table table : Table.values()) {
                digest.update((byte) table.name().length());
                records.scan(
                        table,
                        Keys.none(),
                        Keys.none(),
                        (key, value) -> {
                            digest.update(Keys.of(key.length, value.length));
                            digest.update(key);
                            digest.update(value);
                            return true;
                        });
            }
            return new StateHash(seen.applied, digest.digest());
        });
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw Invariant.broken("every Java platform has SHA-256: %s", e);
        }
    }

    @Override
    public long nextConcerning(int partition, long after) {
        long[] next = {-1};
        StoreView newest = store.newest();
        newest.scan(
                Table.VERDICT,
                Keys.of(partition),
                Keys.of(partition, after + 1),
                (key, value) -> {
                    next[0] = Keys.getLong(key, 8);
                    return false;
                });
        return next[0];
    }

    @Override
    public List<Verdict> verdicts(int partition, long instance) {
        byte[] value = store.newest().get(Table.VERDICT, Keys.of(partition, instance));
        return value == null ? List.of() : VerdictCodec.decode(value);
    }

    @Override
    public long trimmedThrough(int partition) {
        return visible.counters.trimmed.getOrDefault(partition, 0L);
    }

    /** Partition 0: coordinated operations prepared and not decided. */
    public List<PendingTransaction> pendingTransactions() {
        return visible.pending;
    }

    /**
     * Regional partition: votes to propose in ring 0, again and again until the import of the
     * decision removes them.
     */
    public List<VoteOp> pendingVotes() {
        return visible.votes;
    }

    /**
     * Regional partition: what each coordinated operation may change, from its prepare to the
     * import of its decision.
     */
    public Map<Long, Held> held() {
        return visible.held;
    }

    /**
     * Blocks that nothing refers to any more: delete them from the datastore, then propose
     * BlocksDeletedOp.
     */
    public List<BlockRef> doomed(int limit) {
        return doomed(null, limit);
    }

    /** The same, from behind this one on. */
    public List<BlockRef> doomed(@Nullable BlockRef after, int limit) {
        List<BlockRef> doomed = new ArrayList<>();
        byte[] from = after == null ? Keys.none() : Blocks.key(after);
        if (limit > 0 && visible.counters.doomed > 0) {
            store.newest()
                    .scan(
                            Table.DOOMED,
                            Keys.none(),
                            from,
                            (key, value) -> {
                                if (after == null || !Arrays.equals(key, from)) {
                                    doomed.add(Blocks.decode(value));
                                }
                                return doomed.size() < limit;
                            });
        }
        return doomed;
    }

    /**
     * The first of those that were doomed here since this process began, and not taken since: each
     * once, and not all of very many.
     */
    public List<BlockRef> takeNewlyDoomed(int limit) {
        List<BlockRef> doomed = newlyDoomed.take(limit);
        doomed.removeIf(block -> store.newest().get(Table.DOOMED, Blocks.key(block)) == null);
        return doomed;
    }

    /**
     * Blocks that files have and this partition deletes in the end, in the order of their ids.
     *
     * @param after null: from the first one on; else from behind this one
     */
    public List<BlockRef> ownBlocks(@Nullable BlockRef after, int limit) {
        List<BlockRef> blocks = new ArrayList<>();
        byte[] from = after == null ? Keys.none() : Blocks.key(after);
        store.newest()
                .scan(
                        Table.BLOCK,
                        Keys.none(),
                        from,
                        (key, value) -> {
                            BlockRef block = Blocks.decode(value);
                            if (block.getRegion() == partition
                                    && (after == null || !Arrays.equals(key, from))) {
                                blocks.add(block);
                            }
                            return blocks.size() < limit;
                        });
        return blocks;
    }

    /** The first files that have some of these blocks, a line each. Reads much. */
    public List<String> filesWith(Collection<BlockRef> blocks) {
        return onSnapshot((records, seen) -> FilesWithBlocks.describe(records, blocks));
    }

    /** Where an inode lives, as far as this partition knows: see {@link Homes}. */
    public int home(long ino) {
        return consistently((records, seen) -> new Homes(records, seen).of(ino));
    }

    public boolean isHere(long ino) {
        return home(ino) == partition;
    }

    /** Inodes that live elsewhere than where they were born, as far as this partition knows. */
    public long forwards() {
        return visible.counters.forwards;
    }

    /** What other partitions are owed, from the first that is not delivered; see NoticesOp. */
    public record Owed(long first, List<byte[]> notices) {}

    /**
     * At most so many. They are numbered as their rows are, whatever is delivered meanwhile: under
     * another's number one would be lost, or take effect twice.
     */
    public Owed owed(int limit) {
        long[] numbers = {visible.counters.noticesDelivered + 1, 0};
        List<byte[]> notices = new ArrayList<>();
        if (limit > 0 && visible.counters.noticed >= numbers[0]) {
            store.newest()
                    .scan(
                            Table.NOTICE,
                            Keys.none(),
                            Keys.of(numbers[0]),
                            (key, value) -> {
                                long number = Keys.getLong(key, 0);
                                if (notices.isEmpty()) {
                                    numbers[0] = number;
                                } else if (number != numbers[1] + 1) {
                                    return false;
                                }
                                numbers[1] = number;
                                notices.add(value);
                                return notices.size() < limit;
                            });
        }
        return new Owed(numbers[0], notices);
    }

    /** Whether some of a file's content may be in other regions' blocks. */
    public boolean hasForeignContent(long ino) {
        return visible.counters.foreign > 0
                && store.newest().get(Table.FOREIGN, Keys.of(ino)) != null;
    }

    /** Files with content in other regions' blocks, from the one after {@code after} on. */
    public List<Long> withForeignContent(long after, int limit) {
        List<Long> inodes = new ArrayList<>();
        if (visible.counters.foreign > 0) {
            store.newest()
                    .scan(
                            Table.FOREIGN,
                            Keys.none(),
                            Keys.of(after + 1),
                            (key, value) -> {
                                inodes.add(Keys.getLong(key, 0));
                                return inodes.size() < limit;
                            });
        }
        return inodes;
    }

    /** Blocks with older ids (ms) are not referred to, unless they were when the fence came. */
    public long blockFenceMs() {
        return visible.counters.fenceMs;
    }

    /** Whether some file has the block, or had it and it is to be deleted by the doomed list. */
    public boolean refersTo(BlockRef block) {
        byte[] key = Blocks.key(block);
        return store.newest().get(Table.BLOCK, key) != null
                || store.newest().get(Table.DOOMED, key) != null;
    }

    /** Whether some file has the block. Once it is doomed, none will have it again. */
    public boolean isInUse(BlockRef block) {
        byte[] key = Blocks.key(block);
        return store.newest().get(Table.BLOCK, key) != null
                && store.newest().get(Table.DOOMED, key) == null;
    }

    /**
     * Unlinked inodes not yet collected; when above 0, the coordinator proposes CollectOrphansOp
     * now and then.
     */
    public long orphans() {
        return visible.counters.orphans;
    }

    /**
     * Some of the unlinked inodes not yet collected.
     *
     * @param count how many of the rows that were looked at have been there for long
     * @param first inode of the first one of these
     * @param last inode of the last one
     * @param next where to look further; 0: there are no more
     */
    public record Orphaned(int count, long first, long last, long next) {}

    /**
     * Looks for orphans that have been ones since before a time, in the order of their inodes.
     *
     * @param from inode to begin with
     * @param limit how many are enough
     * @param rows how many are looked at
     */
    public Orphaned orphaned(long from, long beforeNs, int limit, int rows) {
        List<Long> due = new ArrayList<>();
        long[] seen = {0, 0};
        store.newest()
                .scan(
                        Table.ORPHAN,
                        Keys.none(),
                        Keys.of(from),
                        (key, value) -> {
                            long ino = Keys.getLong(key, 0);
                            if (due.size() == limit || seen[0] == rows) {
                                seen[1] = ino;
                                return false;
                            }
                            seen[0]++;
                            if (Tree.orphanedAtNs(value) < beforeNs) {
                                due.add(ino);
                            }
                            return true;
                        });
        return due.isEmpty()
                ? new Orphaned(0, 0, 0, seen[1])
                : new Orphaned(due.size(), due.getFirst(), due.getLast(), seen[1]);
    }

    /** Whether an inode is unlinked and not yet collected. */
    public boolean isOrphan(long ino) {
        return store.newest().get(Table.ORPHAN, Keys.of(ino)) != null;
    }

    /**
     * Whether a tree got a quota and has entries that are not counted yet; then the coordinator
     * proposes AdoptQuotaOp now and then.
     */
    public boolean isCounting() {
        return Quotas.isAnyCounting(store.newest());
    }

    /**
     * Directories whose entries are being copied ahead of them.
     *
     * @param untidy whether something waits to be ended or erased; then the coordinator proposes
     *     TidyCopiesOp now and then, and when nobody goes on with one of them
     */
    public record Copying(List<Copies.Copy> copies, boolean untidy) {}

    public Copying copying() {
        StoreView newest = store.newest();
        List<Copies.Copy> copies = Copies.all(newest);
        boolean untidy = copies.stream().anyMatch(copy -> Copies.isUntidy(newest, copy));
        return new Copying(copies, untidy || Staging.isUntidy(newest));
    }

    /**
     * Sessions' leases; when one runs out, the coordinator says so by CollectOrphansOp. The same
     * list until one changes.
     */
    public List<Sessions.Lease> leases() {
        return visible.leases;
    }

    public long sessions() {
        return visible.sessions;
    }

    public FileSystemStatistics statistics() {
        Counters seen = visible.counters;
        return new FileSystemStatistics(seen.inodes, seen.bytes);
    }

    /**
     * Callers must have stopped delivering and reading. What was not flushed is delivered again
     * after the next open.
     */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            store.close();
        }
    }
}
