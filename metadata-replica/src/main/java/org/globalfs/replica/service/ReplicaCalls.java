package org.globalfs.replica.service;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.DiskWatch;
import org.globalfs.protocol.rpc.MetadataCalls;
import org.globalfs.protocol.rpc.RpcServer;
import org.globalfs.protocol.wire.CheckReply;
import org.globalfs.protocol.wire.CheckRequest;
import org.globalfs.protocol.wire.Crossing;
import org.globalfs.protocol.wire.HashReply;
import org.globalfs.protocol.wire.HashRequest;
import org.globalfs.protocol.wire.Links;
import org.globalfs.protocol.wire.Position;
import org.globalfs.protocol.wire.ReplicaStatus;
import org.globalfs.protocol.wire.RingStatus;
import org.globalfs.protocol.wire.StatusRequest;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.StateHash;
import org.globalfs.replica.state.check.CheckReport;

/** The calls that report on a replica; and the table of all of its calls. */
final class ReplicaCalls {

    /** For what another replica has executed already. */
    private static final long REACH_WAIT_NS = 30_000_000_000L;

    private final int id;
    private final Map<Integer, HostedPartition> partitions;
    private final Map<Integer, Flusher> flushers;
    private final RingPeers rings;
    private final Multicast multicast;
    private final DiskRoom disk;
    private final CheckAnswers checks;

    ReplicaCalls(
            int id,
            Map<Integer, HostedPartition> partitions,
            Map<Integer, Flusher> flushers,
            RingPeers rings,
            Multicast multicast,
            DiskRoom disk,
            CheckAnswers checks) {
        this.id = id;
        this.partitions = partitions;
        this.flushers = flushers;
        this.rings = rings;
        this.multicast = multicast;
        this.disk = disk;
        this.checks = checks;
    }

    RpcServer.Calls table(
            Updates updates,
            Reads reads,
            Grants grants,
            CheckpointSource checkpoints,
            RingChanges changes,
            BucketCare buckets,
            LostBlocks content,
            FatalError fatal) {
        return new RpcServer.Calls()
                .on(MetadataCalls.UPDATE, fatal.guard(updates::update))
                .on(MetadataCalls.READ, fatal.guard(reads::read))
                .on(MetadataCalls.RECALLS, fatal.guard(grants::recalls))
                .on(MetadataCalls.STATUS, fatal.guard(this::status))
                .on(MetadataCalls.CHANGE_RING, fatal.guard(changes::change))
                .on(MetadataCalls.STATE_HASH, fatal.guard(this::stateHash))
                .on(MetadataCalls.CHECK, fatal.guard(this::check))
                .on(MetadataCalls.CONTENT, fatal.guard(content::content))
                .on(MetadataCalls.UPKEEP, fatal.guard(buckets::upkeep))
                .on(MetadataCalls.CHECKPOINT, fatal.guard(checkpoints::checkpoint))
                .on(MetadataCalls.CHECKPOINT_PIECE, fatal.guard(checkpoints::piece))
                .on(MetadataCalls.RELEASE_CHECKPOINT, fatal.guard(checkpoints::release));
    }

    private ReplicaStatus status(StatusRequest request) {
        List<RingStatus> answers = new ArrayList<>();
        long sessions = 0;
        for (HostedPartition partition : partitions.values()) {
            int number = partition.partition();
            org.globalfs.multicast.RingStatus ring = multicast.status(number);
            Flusher flusher = Objects.requireNonNull(flushers.get(number));
            answers.add(
                    new RingStatus(
                                    number,
                                    ring.coordinator(),
                                    ring.decided(),
                                    partition.applied(),
                                    partition.importedThrough(),
                                    flusher.flushedInstance())
                            .setImportedDurable(flusher.importedDurable())
                            .setRejoining(ring.rejoining())
                            .setGeneration(ring.generation())
                            .setAcceptors(ring.members())
                            .setLearners(ring.learners())
                            .setServes(rings.serves(number)));
            if (number != 0) {
                sessions = partition.use(PartitionState::sessions);
            }
        }
        DiskWatch least = disk.least();
        return new ReplicaStatus(id, answers, sessions)
                .setFreeBytes(least.freeBytes())
                .setReservedBytes(least.reservedBytes())
                .setFull(disk.isFull());
    }

    private HashReply stateHash(HashRequest request) throws InterruptedException {
        HostedPartition partition = hosted(request.getPartition());
        if (request.isSetMinimum()) {
            reach(partition, request.getMinimum());
        }
        StateHash hash = partition.use(PartitionState::hash);
        return new HashReply(
                new Position(partition.partition(), hash.applied()),
                ByteBuffer.wrap(hash.digest()));
    }

    private static void reach(HostedPartition partition, long minimum) throws InterruptedException {
        if (!partition.progress.await(
                () -> partition.applied() >= minimum, System.nanoTime() + REACH_WAIT_NS)) {
            throw new IllegalStateException(
                    "instance "
                            + minimum
                            + " is not reached in "
                            + TimeUnit.NANOSECONDS.toSeconds(REACH_WAIT_NS)
                            + " s");
        }
    }

    private HostedPartition hosted(int number) {
        HostedPartition partition = partitions.get(number);
        if (partition == null) {
            throw new IllegalArgumentException(
                    "replica " + id + " does not hold partition " + number);
        }
        return partition;
    }

    private CheckReply check(CheckRequest request) throws InterruptedException {
        if (request.isSetId()) {
            return checks.rest(request);
        }
        CheckReply whole = checked(request);
        return request.isPaged() ? checks.begin(whole) : whole;
    }

    private CheckReply checked(CheckRequest request) throws InterruptedException {
        HostedPartition partition = hosted(request.getPartition());
        if (!rings.serves(partition.partition())) {
            throw new IllegalStateException(
                    "replica " + id + " is no member of ring " + partition.partition());
        }
        if (request.isSetMinimum()) {
            reach(partition, request.getMinimum());
        }
        PartitionState.Checked checked = partition.use(PartitionState::check);
        CheckReport report = checked.report();
        return new CheckReply(
                        new Position(partition.partition(), checked.instance()),
                        report.inodes,
                        report.names,
                        report.extents,
                        report.blocks,
                        report.faults,
                        report.findings,
                        links(report.foreign),
                        links(report.unexplained))
                .setHanging(crossings(report.hanging))
                .setHeld(crossings(report.held))
                .setGlobalBelow(report.globalBelow)
                .setHomes(report.digests.homes())
                .setBirths(report.digests.births())
                .setLent(report.digests.lent())
                .setBorrowed(report.digests.borrowed());
    }

    private static List<Crossing> crossings(List<CheckReport.Crossing> all) {
        return all.stream()
                .map(each -> new Crossing(each.ino(), each.parent()).setTop(each.top()))
                .toList();
    }

    private static List<Links> links(Map<Long, Integer> names) {
        return names.entrySet().stream()
                .map(each -> new Links(each.getKey(), each.getValue()))
                .toList();
    }
}
