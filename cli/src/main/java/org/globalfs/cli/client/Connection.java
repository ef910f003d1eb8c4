package org.globalfs.cli.client;

import java.io.IOException;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.client.GlobalFsClient;
import org.globalfs.protocol.config.ClientConfig;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;

/** A session of a client with a whole cluster: discovery, datastore and metadata together. */
public final class Connection implements AutoCloseable {
    private static final long ZOOKEEPER_TIMEOUT_MS = 10_000;

    private final ZooKeeperDiscovery discovery;
    private final GlobalFsClient client;

    private Connection(ZooKeeperDiscovery discovery, GlobalFsClient client) {
        this.discovery = discovery;
        this.client = client;
    }

    /**
     * Opens a session; a cluster that cannot be reached is a {@link Failure} with its exit code.
     */
    public static Connection open(ClientConfig config) throws Failure, IOException {
        ZooKeeperDiscovery discovery = connect(config);
        try {
            return new Connection(discovery, GlobalFsClient.connect(config, discovery, discovery));
        } catch (IOException | RuntimeException e) {
            try (discovery) {
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
        try (discovery) {
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
}
