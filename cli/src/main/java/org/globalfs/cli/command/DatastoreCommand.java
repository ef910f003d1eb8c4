package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.storage.DatastoreOperator;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.discovery.ZooKeeperDiscovery;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Shows storage nodes, and takes them out of service. */
@Command(
        name = "datastore",
        description = "Show storage nodes and what they hold, and take them out of service.",
        mixinStandardHelpOptions = true)
final class DatastoreCommand implements Runnable {
    @Spec private CommandSpec spec;
    @Mixin private DataOption data = new DataOption();

    @Option(
            names = "--config",
            scope = ScopeType.INHERIT,
            paramLabel = "FILE",
            description = "A server's YAML file, for a cluster that is not in a local folder.")
    private @Nullable Path config;

    private interface Work {
        void on(DatastoreOperator operator) throws Failure, IOException;
    }

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(), "say what to do: status, drain or readmit");
    }

    @Command(
            name = "status",
            description = "Show each node: what it holds, and what is left to move or to rebuild.",
            mixinStandardHelpOptions = true)
    int status() throws Exception {
        return with(DatastoreOperator::status);
    }

    @Command(
            name = "drain",
            description = "Take a node, up or down, out of the placement: its chunks go to others.",
            mixinStandardHelpOptions = true)
    int drain(
            @Parameters(paramLabel = "NODE") String node,
            @Option(names = "--no-wait", description = "Return at once.") boolean noWait)
            throws Exception {
        return with(operator -> operator.drain(node, !noWait));
    }

    @Command(
            name = "readmit",
            description = "Let a drained node take its place again.",
            mixinStandardHelpOptions = true)
    int readmit(@Parameters(paramLabel = "NODE") String node) throws Exception {
        return with(operator -> operator.readmit(node));
    }

    private int with(Work work) throws Failure, ConfigException, IOException {
        try (ZooKeeperDiscovery discovery = KnownTopology.connect(data, config)) {
            String cluster = KnownTopology.server(data, config).cluster();
            work.on(new DatastoreOperator(cluster, discovery, System.out::println));
        }
        return ExitCode.OK;
    }
}
