package org.globalfs.datastore.client;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.globalfs.datastore.node.FaultPoints;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.ScrubOptions;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.Role;
import org.jspecify.annotations.Nullable;

/**
 * Storage nodes on loopback with real disks, of one region unless told otherwise: datacenters a, b,
 * c with two nodes each.
 */
final class StorageCluster implements AutoCloseable {
    static final String CLUSTER = "test-cluster";
    static final int REGION = 1;
    private static final List<String> REGIONS = List.of("west", "east", "south");

    final InMemoryDiscovery discovery = new InMemoryDiscovery();
    final InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
    private final Path folder;

    /** Of nodes that are started from now on. */
    long capacityBytes;

    /** Likewise. */
    long scrubPeriodMs;

    /** Likewise. */
    double weight = 1;

    /** Likewise. */
    RepairOptions repairs = RepairOptions.NEVER;

    /** Likewise; by id. */
    Function<String, FaultPoints> faults = id -> FaultPoints.NONE;

    /** What nodes made anew, in that order. */
    final List<ChunkKey> made = new CopyOnWriteArrayList<>();

    private @Nullable DistributedBlockStore others;

    private final Map<String, StorageNode> nodes = new LinkedHashMap<>();
    private final Map<String, HostPort> addresses = new LinkedHashMap<>();

    StorageCluster(Path folder, long capacityBytes) throws IOException {
        this.folder = folder;
        this.capacityBytes = capacityBytes;
        for (String datacenter : new String[] {"a", "b", "c"}) {
            for (int n = 1; n <= 2; n++) {
                start(datacenter + n);
            }
        }
    }

    /** Three regions, west, east and south, with a node in each of three datacenters. */
    static StorageCluster ofThreeRegions(Path folder) throws IOException {
        StorageCluster cluster = new StorageCluster(folder);
        for (String region : REGIONS) {
            for (String datacenter : new String[] {"a", "b", "c"}) {
                cluster.start(region + "-" + datacenter);
            }
        }
        return cluster;
    }

    private StorageCluster(Path folder) {
        this.folder = folder;
    }

    /**
     * Starts a node, at its former address if it had one.
     *
     * @param id datacenter and number, or region, dash and datacenter
     */
    void start(String id) throws IOException {
        int dash = id.indexOf('-');
        String region = dash < 0 ? REGIONS.getFirst() : id.substring(0, dash);
        HostPort bind = addresses.getOrDefault(id, new HostPort("127.0.0.1", FreePorts.one()));
        StorageNode node =
                StorageNode.start(
                        new StorageNode.Options(
                                CLUSTER,
                                id,
                                region,
                                REGIONS.indexOf(region) + 1,
                                id.substring(dash + 1, dash + 2),
                                bind,
                                bind.host(),
                                folder(id),
                                capacityBytes,
                                DiskReserve.exactly(0),
                                weight,
                                1L << 30,
                                64L << 20),
                        discovery,
                        epochs,
                        new ScrubOptions(scrubPeriodMs, Long.MAX_VALUE),
                        repairs,
                        this::chunk,
                        faults.apply(id));
        addresses.put(id, node.address());
        nodes.put(id, node);
    }

    void stop(String... ids) throws IOException {
        for (String id : ids) {
            discovery.remove(Role.STORAGE, id);
            nodes.remove(id).close();
        }
    }

    Path folder(String id) {
        return folder.resolve(id);
    }

    StorageNode node(String id) {
        return nodes.get(id);
    }

    HostPort address(String id) {
        return addresses.get(id);
    }

    Iterable<StorageNode> running() {
        return nodes.values();
    }

    long handoffs() throws IOException {
        long count = 0;
        for (StorageNode node : nodes.values()) {
            count += node.statistics().handoffChunks();
        }
        return count;
    }

    private byte[] chunk(ChunkKey key, ChunkShape shape) throws IOException {
        made.add(key);
        DistributedBlockStore store;
        synchronized (this) {
            if (others == null) {
                others = client(15_000, 30_000);
            }
            store = others;
        }
        return store.chunk(key, shape);
    }

    /** Patient, so that a busy machine is not taken for a hung node. */
    DistributedBlockStore client() {
        return client(15_000);
    }

    DistributedBlockStore client(long requestTimeoutMs) {
        return client(requestTimeoutMs, 60_000);
    }

    private DistributedBlockStore client(long requestTimeoutMs, long deadlineMs) {
        return new DistributedBlockStore(
                CLUSTER, REGIONS.getFirst(), discovery, epochs, requestTimeoutMs, deadlineMs);
    }

    @Override
    public void close() throws IOException {
        for (StorageNode node : nodes.values()) {
            node.close();
        }
        if (others != null) {
            others.close();
        }
    }
}
