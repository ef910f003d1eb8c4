package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.status.ClusterStatus;
import org.globalfs.cli.status.Expected;
import org.globalfs.cli.status.StatusJson;
import org.globalfs.cli.status.StatusProbe;
import org.globalfs.cli.status.StatusTable;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows what a cluster's processes say of themselves. */
@Command(
        name = "status",
        description = "Show regions, rings, storage nodes and mounts.",
        mixinStandardHelpOptions = true)
final class StatusCommand implements Callable<Integer> {
    private static final long ZOOKEEPER_TIMEOUT_MS = 5_000;

    @Mixin private DataOption data = new DataOption();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "A server's YAML file, for a cluster that is not in a local folder.")
    private @Nullable Path config;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Option(
            names = "--hashes",
            description =
                    "Also compare the replicas' states: a hash per partition (reads all of the state).")
    private boolean hashes;

    @Override
    public Integer call() throws Exception {
        ClusterStatus status =
                config == null
                        ? new StatusProbe(Expected.of(data.open())).ask(hashes)
                        : ofConfig(ServerConfig.read(config));
        System.out.print(json ? StatusJson.write(status) : StatusTable.write(status));
        return ExitCode.OK;
    }

    private ClusterStatus ofConfig(ServerConfig server) throws Failure {
        try (ZooKeeperDiscovery discovery =
                ZooKeeperDiscovery.connect(
                        server.zookeeper(), server.cluster(), ZOOKEEPER_TIMEOUT_MS)) {
            return new StatusProbe(Expected.of(server, discovery, discovery)).ask(hashes);
        } catch (IOException e) {
            throw new Failure(ExitCode.ZOOKEEPER, String.valueOf(e.getMessage()), e);
        }
    }
}
