package org.globalfs.cli.command;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.status.ClusterStatus;
import org.globalfs.cli.status.Expected;
import org.globalfs.cli.status.StatusJson;
import org.globalfs.cli.status.StatusProbe;
import org.globalfs.cli.status.StatusTable;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.ServerConfig;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows what a cluster's processes say of themselves. */
@Command(
        name = "status",
        description = "Show regions, rings, storage nodes and mounts.",
        mixinStandardHelpOptions = true)
final class StatusCommand implements Callable<Integer> {
    @Mixin private ClusterOption cluster = new ClusterOption();

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
                cluster.isByFile()
                        ? byFile()
                        : new StatusProbe(Expected.of(cluster.folder())).ask(hashes);
        System.out.print(json ? StatusJson.write(status) : StatusTable.write(status));
        return ExitCode.OK;
    }

    private ClusterStatus byFile() throws Failure, ConfigException, IOException {
        ServerConfig server = cluster.placedServer();
        try (ZooKeeperDiscovery discovery = cluster.connect()) {
            return new StatusProbe(Expected.of(server, discovery, discovery)).ask(hashes);
        }
    }
}
