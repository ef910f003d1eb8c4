package org.globalfs.client;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.ScrubOptions;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.protocol.FreePorts;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.config.Durability;
import org.globalfs.protocol.config.Rings;
import org.globalfs.protocol.config.Roles.ReplicaRole;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.replica.service.Datastore;
import org.globalfs.replica.service.ReplicaConfig;
import org.globalfs.replica.service.ReplicaOptions;
import org.globalfs.replica.service.ReplicaServer;

/**
 * Regions of three datacenters in one JVM, with real replicas and storage nodes on real sockets and
 * folders.
 */
final class LocalCluster implements AutoCloseable {

    final Topology topology;
    final InMemoryDiscovery discovery = new InMemoryDiscovery();
    final InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
    final Map<Integer, ReplicaServer> replicas = new TreeMap<>();
    final Map<String, StorageNode> storage = new TreeMap<>();
    final List<Throwable> fatal = new CopyOnWriteArrayList<>();
    private final Path folder;
    private final ReplicaOptions options;
    private final RepairOptions repairs;
    final DistributedBlockStore blocks;

    /** Run by replicas before they count chunks. */
    volatile Runnable beforeCount = () -> {};

    LocalCluster(Path folder, int regions) throws IOException {
        this(folder, regions, ReplicaOptions.defaults());
    }

    LocalCluster(Path folder, int regions, ReplicaOptions options) throws IOException {
        this(folder, regions, options, RepairOptions.NEVER);
    }

    LocalCluster(Path folder, int regions, ReplicaOptions options, RepairOptions repairs)
            throws IOException {
        this.folder = folder;
        this.options = options;
        this.repairs = repairs;
        blocks = new DistributedBlockStore("test", "region1", discovery, epochs);
        List<Topology.Region> list = new ArrayList<>();
        int id = 1;
        for (int region = 1; region <= regions; region++) {
            List<Topology.ReplicaSite> sites = new ArrayList<>();
            for (int datacenter = 1; datacenter <= 3; datacenter++) {
                sites.add(
                        new Topology.ReplicaSite(id++, "dc" + datacenter, freePort(), freePort()));
            }
            list.add(new Topology.Region("region" + region, region, sites));
        }
        topology = new Topology("test", list);
        for (Topology.Region region : list) {
            for (int number = 1; number <= 6; number++) {
                startNode(region, number);
            }
        }
        for (Topology.ReplicaSite site : topology.replicas()) {
            start(site.id());
        }
    }

    /** A storage node, in one of the datacenters by its number. */
    void startNode(Topology.Region region, int number) throws IOException {
        String name = "s" + region.partition() + "-" + number;
        StorageNode.Options node =
                new StorageNode.Options(
                        "test",
                        name,
                        region.name(),
                        region.partition(),
                        "dc" + (1 + number % 3),
                        new HostPort("127.0.0.1", 0),
                        folder.resolve(name),
                        1L << 30);
        storage.put(
                name,
                StorageNode.start(
                        node, discovery, epochs, ScrubOptions.NEVER, repairs, blocks::chunk));
    }

    private static HostPort freePort() throws IOException {
        return new HostPort("127.0.0.1", FreePorts.one());
    }

    void start(int id) throws IOException {
        ReplicaConfig config =
                new ReplicaConfig(
                        topology,
                        id,
                        folder.resolve("replica-" + id),
                        "127.0.0.1",
                        Durability.DISK,
                        Rings.DEFAULTS,
                        ReplicaRole.DEFAULT_RESERVE,
                        options);
        replicas.put(id, ReplicaServer.start(config, discovery, datastore(), fatal::add));
    }

    private Datastore datastore() {
        return new Datastore() {
            @Override
            public List<BlockRef> delete(List<BlockRef> doomed) throws IOException {
                return blocks.deleteAll(doomed);
            }

            @Override
            public void newBlocksNotBefore(long timeMs) {
                blocks.newBlocksNotBefore(timeMs);
            }

            @Override
            public BlockRef copy(BlockRef block, int region) throws IOException {
                return blocks.copy(block, region);
            }

            @Override
            public void list(int partition, Consumer<BlockRef> each) throws IOException {
                blocks.list(partition, each);
            }

            @Override
            public BlockStore.Census count(int partition, List<BlockRef> counted)
                    throws IOException {
                beforeCount.run();
                return blocks.count(partition, counted);
            }

            @Override
            public boolean isReadable(BlockRef block) throws IOException {
                return blocks.isReadable(block);
            }
        };
    }

    void crash(int id) {
        ReplicaServer server = replicas.remove(id);
        if (server != null) {
            server.abandon();
        }
    }

    ClientConfig config(int region) {
        return new ClientConfig(
                "test",
                "",
                "region" + region,
                "dc1",
                ClientConfig.DEFAULT_MOUNT,
                BlockStorage.STORAGE_NODES);
    }

    GlobalFsClient connect(int region) throws IOException {
        return GlobalFsClient.connect(config(region), discovery, epochs);
    }

    @Override
    public void close() throws IOException {
        replicas.values().forEach(ReplicaServer::close);
        blocks.close();
        for (StorageNode node : storage.values()) {
            node.close();
        }
    }
}
