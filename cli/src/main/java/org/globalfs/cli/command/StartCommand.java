package org.globalfs.cli.command;

import java.util.List;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.cluster.LocalCluster;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Starts single processes of a local cluster. */
@Command(
        name = "start",
        description =
                "Start processes of a local cluster that are down, and wait until they serve.",
        mixinStandardHelpOptions = true)
final class StartCommand implements Callable<Integer> {
    @Mixin private DataOption data = new DataOption();

    @Parameters(
            arity = "1..*",
            paramLabel = "NAME",
            description = "A process, such as us-west-a or mount-us-west.")
    private List<String> names = List.of();

    @Override
    public Integer call() throws Exception {
        try (LocalCluster cluster = data.cluster()) {
            cluster.start(names);
        }
        return ExitCode.OK;
    }
}
