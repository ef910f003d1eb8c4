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
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The options that say which cluster is meant: a local one's folder, or a server's file. */
final class ClusterOption {
    private static final long ZOOKEEPER_TIMEOUT_MS = 5_000;

    @Mixin private DataOption data = new DataOption();

    @Option(
            names = "--config",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "A server's YAML file, for a cluster that is not in a local folder.")
    private @Nullable Path config;

    /** Whether a server's file says it. */
    boolean isByFile() throws Failure {
        if (config != null && data.isGiven()) {
            throw new Failure(
                    ExitCode.USAGE, "--data and --config both say which cluster: give one of them");
        }
        return config != null;
    }

    /** The local cluster's. */
    ClusterFolder folder() throws Failure {
        return data.open();
    }

    /** All replicas that are known: those of a server's file, and those announced since. */
    Topology topology() throws Failure, ConfigException, IOException {
        ServerConfig server = placedServer();
        try (ZooKeeperDiscovery discovery = connect()) {
            return server.topology().including(discovery.members(Role.REPLICA));
        }
    }

    /** A view of the cluster. */
    ZooKeeperDiscovery connect() throws Failure, ConfigException, IOException {
        ServerConfig server = server();
        try {
            return ZooKeeperDiscovery.connect(
                    server.zookeeper(), server.cluster(), ZOOKEEPER_TIMEOUT_MS);
        } catch (IOException e) {
            throw new Failure(ExitCode.ZOOKEEPER, String.valueOf(e.getMessage()), e);
        }
    }

    /** The file, or that of a server of the local cluster. */
    ServerConfig server() throws Failure, ConfigException, IOException {
        return isByFile() && config != null ? ConfigFiles.server(config) : ofFolder(folder());
    }

    /** The same; it has to name the cluster's regions. */
    ServerConfig placedServer() throws Failure, ConfigException, IOException {
        ServerConfig server = server();
        if (server.topology().regions().isEmpty()) {
            throw new Failure(
                    ExitCode.CONFIG,
                    config
                            + " names no regions (topology): give the file of a server with a"
                            + " replica, an oracle or storage nodes");
        }
        return server;
    }

    private static ServerConfig ofFolder(ClusterFolder folder)
            throws ConfigException, Failure, IOException {
        for (String name : folder.servers()) {
            ServerConfig server = ServerConfig.read(folder.config(name));
            if (server.roles().needsTopology()) {
                return server;
            }
        }
        throw new Failure(ExitCode.CONFIG, folder.root() + " has no server with replicas");
    }
}
