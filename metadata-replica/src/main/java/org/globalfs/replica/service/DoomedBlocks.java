package org.globalfs.replica.service;

import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.BlocksDeletedOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes from the datastore what a partition no longer refers to. Done by the ring's coordinator,
 * round and round: a block stays doomed until all of it is gone, which for as long as a storage
 * node is away is true of none, and those behind it must not wait for that. Those that were doomed
 * a moment ago come first, so that they are gone from the nodes that answer, however many are tried
 * again. What is tried again in vain is tried less often: nodes look for all of it each time.
 */
final class DoomedBlocks {

    private static final Logger LOG = LoggerFactory.getLogger(DoomedBlocks.class);

    /** Of blocks of 4 MiB, 4 GiB a tick. */
    static final int BATCH = 1024;

    /** Of a batch, this part is left to those that were tried before, however many are new. */
    private static final int AGAIN_PART = 4;

    /** Ticks without the round's next step, at most, after steps in vain. */
    static final int LONGEST_REST = 32;

    private final HostedPartition partition;
    private final Multicast multicast;
    private final Datastore datastore;
    private final Shutdown shutdown;
    private final int batch;

    /** The last one that was tried; null: the next is the first of all. */
    private @Nullable BlockRef last;

    /** How many ticks the round rests after its next step in vain, and how many it still does. */
    private int rest;

    private int resting;

    DoomedBlocks(
            HostedPartition partition,
            Multicast multicast,
            Datastore datastore,
            Shutdown shutdown,
            int batch) {
        this.partition = partition;
        this.multicast = multicast;
        this.datastore = datastore;
        this.shutdown = shutdown;
        this.batch = batch;
    }

    void tick() {
        int ring = partition.partition();
        if (!multicast.isCoordinator(ring)) {
            return;
        }
        int most = batch - batch / AGAIN_PART;
        List<BlockRef> fresh = partition.use(state -> state.takeNewlyDoomed(most));
        List<BlockRef> again = resting > 0 ? List.of() : next(Math.max(1, batch - fresh.size()));
        resting = Math.max(0, resting - 1);
        Set<BlockRef> doomed = new LinkedHashSet<>(fresh);
        doomed.addAll(again);
        if (doomed.isEmpty() || shutdown.begun()) {
            return;
        }
        List<BlockRef> gone = delete(List.copyOf(doomed));
        if (!gone.isEmpty()) {
            rest = 0;
            resting = 0;
            UpdateOp op = UpdateOp.blocksDeleted(new BlocksDeletedOp(gone));
            multicast.propose(ring, CommandBytes.internal(ring, op), new int[] {ring});
        } else if (!again.isEmpty()) {
            rest = Math.clamp(2L * rest, 1, LONGEST_REST);
            resting = rest;
        }
    }

    private List<BlockRef> delete(List<BlockRef> doomed) {
        try {
            return datastore.delete(doomed);
        } catch (IOException e) {
            LOG.warn(
                    "partition {}: {} blocks are not deleted yet: {}",
                    partition.partition(),
                    doomed.size(),
                    e.toString());
            return List.of();
        }
    }

    private List<BlockRef> next(int limit) {
        BlockRef after = last;
        List<BlockRef> doomed = partition.use(state -> state.doomed(after, limit));
        if (doomed.isEmpty() && after != null) {
            doomed = partition.use(state -> state.doomed(null, limit));
        }
        last = doomed.size() < limit ? null : doomed.getLast();
        return doomed;
    }
}
