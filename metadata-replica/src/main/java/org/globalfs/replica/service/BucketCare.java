package org.globalfs.replica.service;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.globalfs.datastore.s3.BlockOwner;
import org.globalfs.datastore.s3.BucketUpkeep;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.BucketState;
import org.globalfs.protocol.wire.PassProgress;
import org.globalfs.protocol.wire.UpkeepPass;
import org.globalfs.protocol.wire.UpkeepReply;
import org.globalfs.protocol.wire.UpkeepRequest;

/**
 * Looks after what this replica's partitions have in buckets, each while the replica is the
 * coordinator of the partition's ring, as {@link BlockSweep} does; and tells operators of it.
 */
final class BucketCare implements AutoCloseable {
    private static final long ANSWER_NS = TimeUnit.SECONDS.toNanos(10);

    private final Multicast multicast;
    private final Map<Integer, BucketUpkeep> upkeeps = new TreeMap<>();

    BucketCare(Map<Integer, HostedPartition> partitions, Multicast multicast, BlockDeleter blocks)
            throws IOException {
        this.multicast = multicast;
        boolean started = false;
        try {
            for (HostedPartition partition : partitions.values()) {
                int number = partition.partition();
                blocks.lookAfter(number, new Owner(partition, multicast))
                        .ifPresent(upkeep -> upkeeps.put(number, upkeep));
            }
            started = true;
        } finally {
            if (!started) {
                close();
            }
        }
    }

    /** What a partition's log says of its blocks. */
    private record Owner(HostedPartition partition, Multicast multicast) implements BlockOwner {

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
                        || !partition.progress.await(
                                () -> partition.applied() >= seen, deadlineNs)) {
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

    UpkeepReply upkeep(UpkeepRequest request) throws IOException {
        int partition = request.getPartition();
        BucketUpkeep upkeep = upkeeps.get(partition);
        if (upkeep == null || !multicast.isCoordinator(partition)) {
            int coordinator = upkeep == null ? Multicast.NONE : multicast.coordinator(partition);
            return new UpkeepReply(false, coordinator);
        }
        RepairProgress repair =
                request.getStarts() == UpkeepPass.REPAIR ? upkeep.beginRepair() : upkeep.repair();
        ScrubProgress scrub =
                request.getStarts() == UpkeepPass.SCRUB
                        ? upkeep.beginScrub(request.getBytesPerSecond())
                        : upkeep.scrub();
        List<BucketState> buckets = new ArrayList<>();
        for (BucketUpkeep.BucketState each : upkeep.buckets()) {
            buckets.add(new BucketState(each.region(), each.objects(), each.bytes(), each.away()));
        }
        UpkeepReply reply =
                new UpkeepReply(true, multicast.coordinator(partition))
                        .setRepair(wire(repair))
                        .setScrub(wire(scrub))
                        .setBuckets(buckets)
                        .setScrubbed(upkeep.scrubbed());
        long comparedMs = upkeep.comparedMs();
        return comparedMs < 0 ? reply : reply.setComparedMs(comparedMs);
    }

    private static PassProgress wire(RepairProgress said) {
        return new PassProgress(
                said.pass(),
                said.state().code(),
                said.elapsedMs(),
                said.total(),
                said.looked(),
                0,
                0,
                said.rebuilt(),
                said.toRebuild(),
                said.unclear(),
                said.unmade(),
                0,
                said.problems());
    }

    private static PassProgress wire(ScrubProgress said) {
        return new PassProgress(
                said.pass(),
                said.state().code(),
                said.elapsedMs(),
                said.totalBytes(),
                said.readBytes(),
                said.bytesPerSecond(),
                said.damaged(),
                said.mended(),
                said.left(),
                0,
                0,
                said.unreadable(),
                said.problems());
    }

    @Override
    public void close() {
        upkeeps.values().forEach(BucketUpkeep::close);
    }
}
