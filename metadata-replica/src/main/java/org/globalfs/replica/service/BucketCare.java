package org.globalfs.replica.service;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.datastore.s3.BucketUpkeep;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.multicast.Multicast;
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
    private final Multicast multicast;
    private final Map<Integer, BucketUpkeep> upkeeps = new TreeMap<>();

    BucketCare(Map<Integer, HostedPartition> partitions, Multicast multicast, Datastore blocks)
            throws IOException {
        this.multicast = multicast;
        boolean started = false;
        try {
            for (HostedPartition partition : partitions.values()) {
                int number = partition.partition();
                blocks.lookAfter(number, new DecidedBlocks(partition, multicast))
                        .ifPresent(upkeep -> upkeeps.put(number, upkeep));
            }
            started = true;
        } finally {
            if (!started) {
                close();
            }
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
