package org.globalfs.replica.service;

import java.io.IOException;
import java.util.List;
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
 * node is away is true of none, and those behind it must not wait for that.
 */
final class DoomedBlocks {

    private static final Logger LOG = LoggerFactory.getLogger(DoomedBlocks.class);

    /** Of blocks of 4 MiB, 4 GiB a tick. */
    static final int BATCH = 1024;

    private final HostedPartition partition;
    private final Multicast multicast;
    private final Datastore datastore;
    private final Shutdown shutdown;
    private final int batch;

    /** The last one that was tried; null: the next is the first of all. */
    private @Nullable BlockRef last;

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
        List<BlockRef> doomed = next();
        if (doomed.isEmpty() || shutdown.begun()) {
            return;
        }
        List<BlockRef> gone = List.of();
        try {
            gone = datastore.delete(doomed);
        } catch (IOException e) {
            LOG.warn(
                    "partition {}: {} blocks are not deleted yet: {}",
                    ring,
                    doomed.size(),
                    e.toString());
        }
        if (!gone.isEmpty()) {
            UpdateOp op = UpdateOp.blocksDeleted(new BlocksDeletedOp(gone));
            multicast.propose(ring, CommandBytes.internal(ring, op), new int[] {ring});
        }
    }

    private List<BlockRef> next() {
        BlockRef after = last;
        List<BlockRef> doomed = partition.use(state -> state.doomed(after, batch));
        if (doomed.isEmpty() && after != null) {
            doomed = partition.use(state -> state.doomed(null, batch));
        }
        last = doomed.size() < batch ? null : doomed.getLast();
        return doomed;
    }
}
