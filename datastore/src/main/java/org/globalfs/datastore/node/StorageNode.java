package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.globalfs.datastore.wire.NodeStatistics;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.Roles.StorageRole;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Epoch;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.PlacementEpochs;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.StorageRoom;
import org.globalfs.protocol.discovery.StorageSite;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A running storage node: the role `storage` of a server. */
public final class StorageNode implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(StorageNode.class);

    private final Options options;
    private final DataFolder folder;
    private final SegmentStore store;
    private final StorageServer server;
    private final Compaction compaction;
    private final HandoffReturn handoffs;
    private final Upkeep upkeep;
    private final Scrub scrub;
    private final Repair repair;
    private Descriptors.@Nullable Claim descriptors;
    private @Nullable RoomReport room;

    /**
     * What a node is started with.
     *
     * @param bind where to listen; port 0 takes a free one
     * @param advertise the host that others reach it by
     * @param data the node's own folder
     * @param capacityBytes disk space that chunks may take; 0: what the disk has
     * @param reserve free space of the disk that is left to others
     * @param weight share of the chunks relative to other nodes of the datacenter
     * @param handoffBytesPerSecond bandwidth for bringing chunks back to their homes
     * @param compactionBytesPerSecond bandwidth for copying chunks out of segments full of garbage
     */
    public record Options(
            String cluster,
            String id,
            String region,
            int partition,
            String datacenter,
            HostPort bind,
            String advertise,
            Path data,
            long capacityBytes,
            DiskReserve reserve,
            double weight,
            long handoffBytesPerSecond,
            long compactionBytesPerSecond) {
        public static final long DEFAULT_HANDOFF_BYTES_PER_SECOND = 64L << 20;

        /** With defaults for everything that is tuning. */
        public Options(
                String cluster,
                String id,
                String region,
                int partition,
                String datacenter,
                HostPort bind,
                Path data,
                long capacityBytes) {
            this(
                    cluster,
                    id,
                    region,
                    partition,
                    datacenter,
                    bind,
                    bind.host(),
                    data,
                    capacityBytes,
                    StorageRole.DEFAULT_RESERVE,
                    1,
                    DEFAULT_HANDOFF_BYTES_PER_SECOND,
                    StorageRole.DEFAULT_COMPACTION_BYTES_PER_SECOND);
        }

        private StorageSite site(int port) {
            HostPort address = new HostPort(advertise, port);
            return new StorageSite(id, region, partition, datacenter, address, weight);
        }

        /** The same, leaving so much to others. */
        public Options reserving(DiskReserve other) {
            return new Options(
                    cluster,
                    id,
                    region,
                    partition,
                    datacenter,
                    bind,
                    advertise,
                    data,
                    capacityBytes,
                    other,
                    weight,
                    handoffBytesPerSecond,
                    compactionBytesPerSecond);
        }
    }

    private StorageNode(
            Options options,
            DataFolder folder,
            SegmentStore store,
            StorageServer server,
            Compaction compaction,
            HandoffReturn handoffs,
            Scrub scrub,
            Repair repair,
            Upkeep upkeep) {
        this.upkeep = upkeep;
        this.scrub = scrub;
        this.repair = repair;
        this.options = options;
        this.folder = folder;
        this.store = store;
        this.server = server;
        this.compaction = compaction;
        this.handoffs = handoffs;
    }

    /**
     * Opens the folder, serves, and joins the cluster. Everything wrong is one clear IOException.
     */
    public static StorageNode start(
            Options options,
            Discovery discovery,
            PlacementEpochs placement,
            ScrubOptions scrubbing,
            RepairOptions repairs,
            ChunkSource source)
            throws IOException {
        return start(options, discovery, placement, scrubbing, repairs, source, FaultPoints.NONE);
    }

    /**
     * As above.
     *
     * @param faults is told of each step
     */
    public static StorageNode start(
            Options options,
            Discovery discovery,
            PlacementEpochs placement,
            ScrubOptions scrubbing,
            RepairOptions repairs,
            ChunkSource source,
            FaultPoints faults)
            throws IOException {
        StorageNode node = open(options, discovery, placement, scrubbing, repairs, source, faults);
        try {
            placement.join(options.site(node.address().port()));
            String incarnation = UUID.randomUUID().toString();
            node.room =
                    new RoomReport(
                            node.store,
                            options.id,
                            discovery,
                            room -> node.member(room, incarnation));
            node.descriptors =
                    Descriptors.claim(node.folder.path(), node.statistics().capacityBytes());
            node.compaction.start();
            node.handoffs.start();
            node.scrub.start();
            node.repair.start();
            LOG.info("storage node {} serves {} at {}", options.id, options.data, node.address());
            return node;
        } catch (IOException | RuntimeException e) {
            node.close();
            throw e;
        }
    }

    /** Once all nodes and caches of the process have started: what each needs adds up. */
    public static void warnOfShortages() {
        Descriptors.warnOfShortage(SegmentStore.Options.DEFAULT_SEGMENT_BYTES);
    }

    private Member member(StorageRoom room, String incarnation) {
        Map<String, String> attributes = new HashMap<>(room.attributes());
        attributes.put(Peers.INCARNATION, incarnation);
        return new Member(
                Role.STORAGE,
                options.id,
                options.region,
                options.partition,
                options.datacenter,
                address(),
                attributes);
    }

    private static StorageNode open(
            Options options,
            Discovery discovery,
            PlacementEpochs placement,
            ScrubOptions scrubbing,
            RepairOptions repairs,
            ChunkSource source,
            FaultPoints faults)
            throws IOException {
        DataFolder folder = DataFolder.open(options.data, options.cluster, options.id);
        try {
            Disk disk = Disk.of(folder.path());
            SegmentStore store =
                    SegmentStore.open(
                            folder.path(),
                            new SegmentStore.Options(
                                    options.cluster,
                                    options.id,
                                    options.capacityBytes == 0
                                            ? Long.MAX_VALUE
                                            : options.capacityBytes,
                                    options.reserve.on(disk),
                                    SegmentStore.Options.DEFAULT_SEGMENT_BYTES,
                                    true),
                            disk,
                            faults);
            try {
                StorageServer server = new StorageServer(options.cluster, options.id, options.bind);
                HandoffReturn handoffs =
                        new HandoffReturn(
                                store,
                                options.cluster,
                                options.id,
                                discovery,
                                placement,
                                options.handoffBytesPerSecond);
                Scrub scrub = new Scrub(store, options.id, scrubbing, source);
                Repair repair =
                        new Repair(
                                store,
                                options.site(server.address().port()),
                                placement,
                                repairs,
                                source,
                                new Peers(
                                        options.cluster,
                                        options.id,
                                        options.partition,
                                        discovery,
                                        repairs.graceMs()));
                Upkeep upkeep = upkeep(scrub, scrubbing, repair, placement);
                server.start(() -> new StorageRequests(store, upkeep, options.id));
                return new StorageNode(
                        options,
                        folder,
                        store,
                        server,
                        new Compaction(store, options.id, options.compactionBytesPerSecond),
                        handoffs,
                        scrub,
                        repair,
                        upkeep);
            } catch (IOException | RuntimeException e) {
                store.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    private static Upkeep upkeep(
            Scrub scrub, ScrubOptions scrubbing, Repair repair, PlacementEpochs placement) {
        return new Upkeep() {
            @Override
            public ScrubOptions scrubbing() {
                return scrubbing;
            }

            @Override
            public ScrubProgress scrub(boolean begins, long bytesPerSecond) {
                return begins ? scrub.begin(bytesPerSecond) : scrub.progress();
            }

            @Override
            public RepairProgress repair(boolean begins) {
                return begins ? repair.begin() : repair.progress();
            }

            @Override
            public Epoch newestEpoch() {
                return placement.newest();
            }

            @Override
            public boolean awaits(String node) {
                return placement.newest().lists(node);
            }
        };
    }

    public String id() {
        return options.id;
    }

    /** Where others reach the node. */
    public HostPort address() {
        return new HostPort(options.advertise, server.address().port());
    }

    public NodeStatistics statistics() throws IOException {
        return store.statistics(upkeep::awaits, upkeep.scrubbing());
    }

    /** Stops serving; what was acknowledged is on disk. The node stays in the placement epochs. */
    @Override
    public void close() throws IOException {
        Descriptors.Claim claim = descriptors;
        if (claim != null) {
            descriptors = null;
            claim.release();
        }
        RoomReport report = room;
        if (report != null) {
            report.close();
        }
        repair.close();
        scrub.close();
        handoffs.close();
        compaction.close();
        server.close();
        store.close();
        folder.close();
    }
}
