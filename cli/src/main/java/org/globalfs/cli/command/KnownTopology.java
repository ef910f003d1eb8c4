package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.cluster.ClusterFolder;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.config.Topology;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.jspecify.annotations.Nullable;

/** All replicas that are known: those of a server's file, and those announced since. */
final class KnownTopology {
    private static final long ZOOKEEPER_TIMEOUT_MS = 5_000;

    private KnownTopology() {}

    /** Of the server's file, or of the local cluster in the folder. */
    static Topology of(DataOption data, @Nullable Path config)
            throws Failure, ConfigException, IOException {
        try (ZooKeeperDiscovery discovery = connect(data, config)) {
            return server(data, config).topology().including(discovery.members(Role.REPLICA));
        }
    }

    /** A view of the cluster that the file, or the folder, is of. */
    static ZooKeeperDiscovery connect(DataOption data, @Nullable Path config)
            throws Failure, ConfigException, IOException {
        ServerConfig server = server(data, config);
        try {
            return ZooKeeperDiscovery.connect(
                    server.zookeeper(), server.cluster(), ZOOKEEPER_TIMEOUT_MS);
        } catch (IOException e) {
            throw new Failure(ExitCode.ZOOKEEPER, String.valueOf(e.getMessage()), e);
        }
    }

    /** The file, or that of a server of the local cluster. */
    static ServerConfig server(DataOption data, @Nullable Path config)
            throws Failure, ConfigException {
        return config == null ? ofFolder(data.open()) : ServerConfig.read(config);
    }

    private static ServerConfig ofFolder(ClusterFolder folder) throws ConfigException, Failure {
        for (String name : folder.servers()) {
            ServerConfig server = ServerConfig.read(folder.config(name));
            if (server.roles().needsTopology()) {
                return server;
            }
        }
        throw new Failure(ExitCode.CONFIG, folder.root() + " has no server with replicas");
    }
}
