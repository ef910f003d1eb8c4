package org.globalfs.cli.command;

import java.util.List;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.cluster.LocalCluster;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Kills single processes of a local cluster. */
@Command(
        name = "kill",
        description =
                "Kill processes of a local cluster without warning (kill -9), for tests and demonstrations.",
        mixinStandardHelpOptions = true)
final class KillCommand implements Callable<Integer> {
    @Mixin private DataOption data = new DataOption();

    @Parameters(
            arity = "1..*",
            paramLabel = "NAME",
            description = "A process, such as us-west-a or mount-us-west.")
    private List<String> names = List.of();

    @Override
    public Integer call() throws Exception {
        try (LocalCluster cluster = data.cluster()) {
            cluster.kill(names);
        }
        return ExitCode.OK;
    }
}
