package org.globalfs.bench;

import org.globalfs.bench.agar.AgarBench;
import org.globalfs.bench.agar.AgarLiveBench;
import org.globalfs.bench.agar.LiveClientsCommand;
import org.globalfs.bench.datastore.DatastoreBench;
import org.globalfs.bench.datastore.DatastoreMemberCommand;
import org.globalfs.bench.multicast.MulticastBench;
import org.globalfs.bench.multicast.member.MemberCommand;
import org.globalfs.bench.placement.PlacementBench;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The entry point of {@code globalfs bench}. */
@Command(
        name = "globalfs bench",
        description = "Measures parts of GlobalFS on this machine.",
        mixinStandardHelpOptions = true,
        subcommands = {
            MulticastBench.class,
            MemberCommand.class,
            AgarBench.class,
            AgarLiveBench.class,
            PlacementBench.class,
            LiveClientsCommand.class,
            DatastoreBench.class,
            DatastoreMemberCommand.class
        })
public final class BenchMain {
    private BenchMain() {}

    public static void main(String[] args) {
        CommandLine line = new CommandLine(new BenchMain());
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            if (failure instanceof BenchFailure) {
                command.getErr().println("globalfs bench: " + failure.getMessage());
            } else {
                failure.printStackTrace(command.getErr());
            }
            return CommandLine.ExitCode.SOFTWARE;
        });
        line.setParameterExceptionHandler((wrong, arguments) -> {
            String command = wrong.getCommandLine().getCommandSpec().qualifiedName();
            wrong.getCommandLine()
                    .getErr()
                    .println(
                            "globalfs bench: "
                                    + wrong.getMessage()
                                    + ": try '"
                                    + command
                                    + " --help'");
            return CommandLine.ExitCode.USAGE;
        });
        int code = line.execute(args.length == 0 ? new String[] {"--help"} : args);
        System.out.flush();
        System.exit(code);
    }
}
