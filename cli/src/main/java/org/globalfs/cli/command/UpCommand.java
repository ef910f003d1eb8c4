package org.globalfs.cli.command;

import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Quickstart's cluster, by choice as one process a datacenter. */
@Command(
        name = "up",
        description =
                "Start quickstart's cluster, with --processes as separate processes that can be killed and restarted.",
        mixinStandardHelpOptions = true)
final class UpCommand implements Callable<Integer> {
    @Mixin private UpOptions options = new UpOptions();

    @Option(
            names = "--processes",
            description =
                    "One process per datacenter, and one for ZooKeeper, instead of one for all.")
    private boolean processes;

    @Option(
            names = "--configure-for",
            paramLabel = "ADDRESS",
            split = ",",
            description =
                    "Start nothing: only make the folder, for regions at these three addresses; or for"
                            + " ZooKeeper and the nine datacenters at these ten. 'globalfs start', in"
                            + " each one's network, then starts processes.")
    private List<String> hosts = List.of();

    @Override
    public Integer call() throws Exception {
        return hosts.isEmpty() ? options.run(processes) : options.configure(hosts);
    }
}
