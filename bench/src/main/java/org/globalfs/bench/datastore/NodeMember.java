package org.globalfs.bench.datastore;

import java.io.IOException;
import java.nio.file.Path;
import org.globalfs.bench.BenchFailure;
import org.globalfs.datastore.cache.CacheNode;
import org.globalfs.datastore.cache.CacheOptions;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.ScrubOptions;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.BlockStorage;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;

/** A storage node, or a cache of the region that has no nodes. */
final class NodeMember implements BenchMember {
    private static final HostPort ANY_PORT = new HostPort("127.0.0.1", 0);
    private static final DiskReserve RESERVE = DiskReserve.exactly(256 << 20);

    /** A dead node's chunks are made anew this soon after it is found to be away. */
    private static final RepairOptions AT_ONCE = new RepairOptions(500, Long.MAX_VALUE, 500);

    private static final long CACHE_BYTES = 1L << 30;
    private static final long CACHE_PERIOD_MS = 1_000;

    private final ZooKeeperDiscovery discovery;
    private final DistributedBlockStore others;
    private final AutoCloseable node;
    private final SlowDisk disk = new SlowDisk();

    /** Starts what the process is for. */
    private interface Start {
        AutoCloseable node(
                ZooKeeperDiscovery discovery, DistributedBlockStore others, SlowDisk disk)
                throws IOException;
    }

    private NodeMember(String zookeeper, String region, Start start) throws IOException {
        awaitCoder();
        discovery = Setup.connect(zookeeper);
        others =
                DistributedBlockStore.inBackground(
                        Setup.CLUSTER, region, discovery, discovery, BlockStorage.STORAGE_NODES);
        node = start.node(discovery, others, disk);
    }

    /** What a node has done when its machine has been calm for half a minute. */
    private static void awaitCoder() {
        try {
            String _ = ReedSolomon.settle();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }

    static NodeMember storage(
            String zookeeper, String id, String datacenter, Path folder, boolean repairs)
            throws IOException {
        return new NodeMember(
                zookeeper,
                Setup.REGION,
                (discovery, others, disk) ->
                        StorageNode.start(
                                new StorageNode.Options(
                                                Setup.CLUSTER,
                                                id,
                                                Setup.REGION,
                                                Setup.PARTITION,
                                                datacenter,
                                                ANY_PORT,
                                                folder,
                                                0)
                                        .reserving(RESERVE),
                                discovery,
                                discovery,
                                ScrubOptions.NEVER,
                                repairs ? AT_ONCE : RepairOptions.NEVER,
                                others::chunk,
                                disk));
    }

    /** Keeps all data chunks of what was read last. */
    static NodeMember cache(String zookeeper, String id, Path folder) throws IOException {
        return new NodeMember(
                zookeeper,
                Setup.FAR_REGION,
                (discovery, others, _) ->
                        CacheNode.start(
                                new CacheOptions(
                                        Setup.CLUSTER,
                                        id,
                                        Setup.FAR_REGION,
                                        Setup.FAR_PARTITION,
                                        "a",
                                        ANY_PORT,
                                        ANY_PORT.host(),
                                        folder,
                                        CACHE_BYTES,
                                        RESERVE,
                                        CachePolicyKind.LRU,
                                        Setup.DATA_CHUNKS,
                                        CACHE_PERIOD_MS,
                                        Long.MAX_VALUE),
                                discovery,
                                others));
    }

    @Override
    public String answer(String[] words) {
        if (words[0].equals("slow")) {
            disk.slowBy(Long.parseLong(words[1]));
            return "";
        }
        throw new BenchFailure("unknown command " + words[0]);
    }

    @Override
    public void close() throws IOException {
        try (discovery;
                others) {
            node.close();
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException(e);
        }
    }
}
