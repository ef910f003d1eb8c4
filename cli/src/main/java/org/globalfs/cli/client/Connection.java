package org.globalfs.cli.client;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.client.GlobalFsClient;
import org.globalfs.client.io.Blocks;
import org.globalfs.datastore.client.BlockStore;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.globalfs.protocol.wire.BlockRef;

/** A session of a client with a whole cluster: discovery, datastore and metadata together. */
public final class Connection implements AutoCloseable {
    private static final long ZOOKEEPER_TIMEOUT_MS = 15_000;

    private final ZooKeeperDiscovery discovery;
    private final BlockStore store;
    private final GlobalFsClient client;

    private Connection(ZooKeeperDiscovery discovery, BlockStore store, GlobalFsClient client) {
        this.discovery = discovery;
        this.store = store;
        this.client = client;
    }

    /**
     * Opens a session; a cluster that cannot be reached is a {@link Failure} with its exit code.
     */
    public static Connection open(ClientConfig config) throws Failure, IOException {
        ZooKeeperDiscovery discovery = connect(config);
        BlockStore store = new DistributedBlockStore(config.cluster(), discovery, discovery);
        try {
            return new Connection(
                    discovery,
                    store,
                    GlobalFsClient.connect(
                            config,
                            discovery,
                            blocks(store),
                            () -> capacityBytes(discovery, config)));
        } catch (IOException | RuntimeException e) {
            try (discovery;
                    store) {
                throw e;
            }
        }
    }

    public GlobalFsClient client() {
        return client;
    }

    public Discovery discovery() {
        return discovery;
    }

    /** Commits what is buffered and ends the session. */
    @Override
    public void close() throws IOException {
        try (discovery;
                store) {
            client.close();
        }
    }

    private static ZooKeeperDiscovery connect(ClientConfig client) throws Failure {
        try {
            return ZooKeeperDiscovery.connect(
                    client.zookeeper(), client.cluster(), ZOOKEEPER_TIMEOUT_MS);
        } catch (IOException e) {
            throw new Failure(ExitCode.ZOOKEEPER, String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * What files of the region's partition may fill: its nodes' capacity less the parity's share.
     */
    private static long capacityBytes(Discovery discovery, ClientConfig client) {
        long raw = 0;
        for (Member node : discovery.members(Role.STORAGE)) {
            if (node.region().equals(client.region())) {
                raw += Long.parseLong(node.attributes().getOrDefault("capacity", "0"));
            }
        }
        return raw / 6 * 4;
    }

    private static Blocks blocks(BlockStore store) {
        return new Blocks() {
            @Override
            public BlockRef put(int region, ByteBuffer content) throws IOException {
                return store.put(region, content);
            }

            @Override
            public ByteBuffer get(BlockRef ref, int offset, int length) throws IOException {
                return store.get(ref, offset, length);
            }

            @Override
            public void delete(BlockRef ref) throws IOException {
                store.delete(ref);
            }
        };
    }
}
