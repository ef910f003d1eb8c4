package org.globalfs.cli.command;

import java.io.IOException;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.ring.RingOperator;
import org.globalfs.protocol.config.ConfigException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

/** Shows and changes which metadata replicas take part in which ring. */
@Command(
        name = "ring",
        description = "Show and change which metadata replicas order what, while they serve.",
        mixinStandardHelpOptions = true)
final class RingCommand implements Runnable {
    @Spec private CommandSpec spec;
    @Mixin private ClusterOption cluster = new ClusterOption();

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description = "How long each step may take (default: ${DEFAULT-VALUE}).",
            defaultValue = "600",
            scope = ScopeType.INHERIT)
    private int timeoutSeconds;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(), "say what to do: list, add, promote, remove or replace");
    }

    @Command(
            name = "list",
            description = "Show each ring's members and coordinator.",
            mixinStandardHelpOptions = true)
    int list() throws Exception {
        operator().list().forEach(System.out::println);
        return ExitCode.OK;
    }

    @Command(
            name = "add",
            description =
                    "Add a running replica to ring 0 and its region's ring; it decides once it has caught up.",
            mixinStandardHelpOptions = true)
    int add(
            @Parameters(paramLabel = "REPLICA") int replica,
            @Option(names = "--learner", description = "It follows only, without a vote.")
                    boolean learner)
            throws Exception {
        operator().add(replica, learner);
        return ExitCode.OK;
    }

    @Command(
            name = "promote",
            description = "Make a learner decide, once it has caught up.",
            mixinStandardHelpOptions = true)
    int promote(@Parameters(paramLabel = "REPLICA") int replica) throws Exception {
        operator().promote(replica);
        return ExitCode.OK;
    }

    @Command(
            name = "remove",
            description = "Take a replica, running or not, out of its rings.",
            mixinStandardHelpOptions = true)
    int remove(@Parameters(paramLabel = "REPLICA") int replica) throws Exception {
        operator().remove(replica);
        return ExitCode.OK;
    }

    @Command(
            name = "replace",
            description = "Let a running replica take another's place in its rings.",
            mixinStandardHelpOptions = true)
    int replace(
            @Parameters(index = "0", paramLabel = "OLD") int old,
            @Parameters(index = "1", paramLabel = "NEW") int by)
            throws Exception {
        operator().replace(old, by);
        return ExitCode.OK;
    }

    private RingOperator operator() throws Failure, ConfigException, IOException {
        return new RingOperator(cluster.topology(), timeoutSeconds * 1000L, System.out::println);
    }
}
