package org.globalfs.bench.datastore;

import java.io.IOException;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;

/** What all processes of the measured datastore know. */
final class Setup {
    static final String CLUSTER = "bench";

    /** Where the storage nodes are, and clients that read and write without a cache. */
    static final String REGION = "near";

    static final int PARTITION = 1;

    /** Where the cache is, and clients that read through it. */
    static final String FAR_REGION = "far";

    static final int FAR_PARTITION = 2;
    static final int NODES = 6;
    static final int DATA_CHUNKS = 4;
    static final int CHUNKS = 6;
    static final int BLOCK_BYTES = 4 << 20;
    private static final long CONNECT_MS = 60_000;

    private Setup() {}

    static ZooKeeperDiscovery connect(String zookeeper) throws IOException {
        return ZooKeeperDiscovery.connect(zookeeper, CLUSTER, CONNECT_MS);
    }
}
