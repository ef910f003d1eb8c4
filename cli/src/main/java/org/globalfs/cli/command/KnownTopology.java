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
        ServerConfig server = config == null ? ofFolder(data.open()) : ServerConfig.read(config);
        try (ZooKeeperDiscovery discovery =
                ZooKeeperDiscovery.connect(
                        server.zookeeper(), server.cluster(), ZOOKEEPER_TIMEOUT_MS)) {
            return server.topology().including(discovery.members(Role.REPLICA));
        } catch (IOException e) {
            throw new Failure(ExitCode.ZOOKEEPER, String.valueOf(e.getMessage()), e);
        }
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
