package org.globalfs.replica.service;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.BlockIds;
import org.globalfs.protocol.HybridClock;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.FenceBlocksOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.replica.state.PartitionState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes blocks that no file has: of writers that died before they committed, of commits that were
 * refused without the writer hearing of it, of deletions that did not reach every node. Mark and
 * sweep, done by the ring's coordinator.
 *
 * <p>First a fence is ordered in the partition's log: no command behind it refers to a block whose
 * id is older than the fence, unless the partition refers to it already. So of the blocks that are
 * older, those that the partition does not refer to once it has executed the fence will never be
 * referred to, whatever is still on its way and whatever clocks say: that alone is what deleting
 * them depends on. The fence lags behind the present by a grace, so that no commit that takes a
 * usual time meets it; one that does stores its blocks again.
 *
 * <p>Nothing has to be remembered: a sweep that was cut short is followed by another, and two
 * coordinators that sweep at once do no harm.
 */
final class BlockSweep {
    private static final Logger LOG = LoggerFactory.getLogger(BlockSweep.class);
    private static final int BATCH = 1_000;

    private final HostedPartition partition;
    private final Multicast multicast;
    private final Datastore datastore;
    private final Shutdown shutdown;
    private final long periodNs;
    private final long graceMs;
    private long lastNs = System.nanoTime();
    private long wantedMs;

    /**
     * @param periodMs from one sweep to the next; 0: never
     * @param graceMs how much older than the present a block has to be
     */
    BlockSweep(
            HostedPartition partition,
            Multicast multicast,
            Datastore datastore,
            Shutdown shutdown,
            long periodMs,
            long graceMs) {
        this.partition = partition;
        this.multicast = multicast;
        this.datastore = datastore;
        this.shutdown = shutdown;
        this.periodNs = TimeUnit.MILLISECONDS.toNanos(periodMs);
        this.graceMs = graceMs;
    }

    void tick() {
        int ring = partition.partition();
        if (periodNs == 0 || !multicast.isCoordinator(ring)) {
            wantedMs = 0;
            return;
        }
        long fenceMs = partition.use(PartitionState::blockFenceMs);
        if (wantedMs != 0 && fenceMs >= wantedMs) {
            wantedMs = 0;
            sweep(fenceMs);
        } else if (System.nanoTime() - lastNs >= periodNs) {
            lastNs = System.nanoTime();
            long nowMs =
                    TimeUnit.NANOSECONDS.toMillis(
                            HybridClock.ns(partition.use(PartitionState::lastTimestamp)));
            wantedMs = nowMs - graceMs;
            if (wantedMs > fenceMs) {
                UpdateOp op = UpdateOp.fenceBlocks(new FenceBlocksOp(wantedMs));
                multicast.propose(ring, CommandBytes.internal(ring, op), new int[] {ring});
            }
        }
    }

    /**
     * @param fenceMs executed here
     */
    private void sweep(long fenceMs) {
        Set<BlockRef> batch = new LinkedHashSet<>();
        long[] deleted = new long[1];
        try {
            datastore.list(
                    partition.partition(),
                    block -> {
                        if (BlockIds.timeMs(block) < fenceMs && !shutdown.begun()) {
                            batch.add(block);
                            if (batch.size() >= BATCH) {
                                deleted[0] += deleteUnreferred(batch);
                                batch.clear();
                            }
                        }
                    });
        } catch (IOException e) {
            LOG.warn(
                    "partition {}: blocks that no file has are not all deleted, the next sweep goes on: {}",
                    partition.partition(),
                    e.toString());
        }
        deleted[0] += deleteUnreferred(batch);
        if (deleted[0] > 0) {
            LOG.info(
                    "partition {}: deleted {} blocks that no file has",
                    partition.partition(),
                    deleted[0]);
        }
    }

    private long deleteUnreferred(Set<BlockRef> blocks) {
        List<BlockRef> unreferred = new ArrayList<>();
        partition.use(state -> {
            for (BlockRef block : blocks) {
                if (!state.refersTo(block)) {
                    unreferred.add(block);
                }
            }
            return unreferred;
        });
        if (unreferred.isEmpty() || shutdown.begun()) {
            return 0;
        }
        try {
            return datastore.delete(unreferred).size();
        } catch (IOException e) {
            LOG.warn(
                    "partition {}: {} blocks that no file has are not deleted yet: {}",
                    partition.partition(),
                    unreferred.size(),
                    e.toString());
            return 0;
        }
    }
}
