package org.globalfs.datastore.client;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.Role;

/**
 * Storage nodes of one region on loopback with real disks: datacenters a, b, c with two nodes each.
 */
final class StorageCluster implements AutoCloseable {
    static final String CLUSTER = "test-cluster";
    static final int REGION = 1;

    final InMemoryDiscovery discovery = new InMemoryDiscovery();
    final InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
    private final Path folder;
    private final long capacityBytes;
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

    /** Starts a node, at its former address if it had one. */
    void start(String id) throws IOException {
        HostPort bind = addresses.getOrDefault(id, new HostPort("127.0.0.1", 0));
        StorageNode node =
                StorageNode.start(
                        new StorageNode.Options(
                                CLUSTER,
                                id,
                                "west",
                                REGION,
                                id.substring(0, 1),
                                bind,
                                folder(id),
                                capacityBytes,
                                0,
                                1,
                                1L << 30),
                        discovery,
                        epochs);
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

    DistributedBlockStore client() {
        return new DistributedBlockStore(CLUSTER, discovery, epochs, 1_000, 20_000);
    }

    @Override
    public void close() throws IOException {
        for (StorageNode node : nodes.values()) {
            node.close();
        }
    }
}
