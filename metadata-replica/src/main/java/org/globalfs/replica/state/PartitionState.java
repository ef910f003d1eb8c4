package org.globalfs.replica.state;

import java.nio.file.Path;
import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.FileSystemStatistics;
import org.globalfs.protocol.wire.ReadReply;
import org.globalfs.protocol.wire.ReadRequest;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.replica.state.model.Verdict;
import org.globalfs.replica.state.store.StateOptions;
import org.jspecify.annotations.Nullable;

/**
 * The state machine of one partition. One thread delivers; any thread may read. The public API, its
 * body follows.
 */
@SuppressWarnings("DoNotCallSuggester")
public final class PartitionState implements VerdictSource, AutoCloseable {

    private PartitionState() {}

    private static RuntimeException absent() {
        return new UnsupportedOperationException("lands next");
    }

    /**
     * Opens or creates. Reopened after a crash it stands at its last flush; deliver the log again
     * from there.
     */
    public static PartitionState open(Path folder, int partition, StateOptions options) {
        throw absent();
    }

    public int partition() {
        throw absent();
    }

    /**
     * Highest executed instance of the partition's ring; 0 before the first. Safe from any thread.
     */
    @Override
    public long applied() {
        throw absent();
    }

    /** Last instance of ring 0 imported; for partition 0 the same as {@link #applied}. */
    public long importedThrough() {
        throw absent();
    }

    /** Highest ring-0 instance that anything in this partition depends on. */
    public long globalSeen() {
        throw absent();
    }

    /**
     * Executes the next instance and commits it, then reports each command's outcome.
     *
     * @param verdicts state of partition 0; null when this is partition 0. It must have executed
     *     what is imported
     */
    public void deliver(
            long instance,
            List<Entry> entries,
            @Nullable VerdictSource verdicts,
            ResultListener results) {
        throw absent();
    }

    /**
     * Answers from one consistent state; the reply's position is exactly that state's. Never waits.
     */
    public ReadReply read(ReadRequest request) {
        throw absent();
    }

    /** What a name in a directory points to now, without permission checks; null when absent. */
    public @Nullable Child child(long parent, byte[] name) {
        throw absent();
    }

    /**
     * Makes everything executed so far durable; returns the instance that a reopened state will
     * stand at, at least.
     */
    public long flush() {
        throw absent();
    }

    /**
     * Writes a copy that {@link #open} accepts into a folder that must not exist yet. Returns the
     * instance it stands at.
     */
    public long checkpoint(Path folder) {
        throw absent();
    }

    public StateHash hash() {
        throw absent();
    }

    @Override
    public long nextConcerning(int partition, long after) {
        throw absent();
    }

    @Override
    public List<Verdict> verdicts(int partition, long instance) {
        throw absent();
    }

    @Override
    public long trimmedThrough(int partition) {
        throw absent();
    }

    /** Partition 0: coordinated operations prepared and not decided. */
    public List<PendingTransaction> pendingTransactions() {
        throw absent();
    }

    /**
     * Regional partition: votes to propose in ring 0 (again and again until the import of the
     * decision removes them).
     */
    public List<VoteOp> pendingVotes() {
        throw absent();
    }

    /**
     * Blocks that nothing refers to any more: delete them from the datastore, then propose
     * BlocksDeletedOp.
     */
    public List<BlockRef> doomed(int limit) {
        throw absent();
    }

    /**
     * Number of unlinked inodes not yet collected; when above 0, the coordinator proposes
     * CollectOrphansOp now and then.
     */
    public long orphans() {
        throw absent();
    }

    public long sessions() {
        throw absent();
    }

    public FileSystemStatistics statistics() {
        throw absent();
    }

    @Override
    public void close() {
        throw absent();
    }
}
