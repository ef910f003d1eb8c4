package org.globalfs.replica.service;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.globalfs.datastore.s3.BlockOwner;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.BlockRef;

/** What a partition's log says of its blocks, as the coordinator of its ring knows. Thread-safe. */
record DecidedBlocks(HostedPartition partition, Multicast multicast) implements BlockOwner {
    private static final long ANSWER_NS = TimeUnit.SECONDS.toNanos(10);

    @Override
    public boolean leads() {
        return multicast.isCoordinator(partition.partition());
    }

    /** As a strong read: on a state that has all that was decided before. */
    @Override
    public Set<BlockRef> inUse(Collection<BlockRef> blocks) throws IOException {
        long deadlineNs = System.nanoTime() + ANSWER_NS;
        int ring = partition.partition();
        try {
            long decided = multicast.leaseInstance(ring);
            if (decided == Multicast.NONE) {
                decided = multicast.readIndex(ring).get(ANSWER_NS, TimeUnit.NANOSECONDS);
            }
            long seen = decided;
            if (seen == Multicast.NONE
                    || !partition.progress.await(() -> partition.applied() >= seen, deadlineNs)) {
                throw new IOException("this replica does not lead ring " + ring + " any more");
            }
        } catch (TimeoutException e) {
            throw new IOException("no majority of ring " + ring + " answers", e);
        } catch (ExecutionException e) {
            throw new IOException("the read of ring " + ring + " failed", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while asking ring " + ring);
        }
        Set<BlockRef> inUse = new HashSet<>();
        partition.use(state -> {
            for (BlockRef block : blocks) {
                if (state.isInUse(block)) {
                    inUse.add(block);
                }
            }
            return inUse;
        });
        return inUse;
    }
}
