package org.globalfs.cli.command;

import java.util.List;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The program's root command: shows what there is. */
@Command(
        name = "globalfs",
        description = "One POSIX tree in many regions.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the operation failed",
            "2:wrong usage",
            "3:a configuration or folder cannot be used",
            "4:a port is busy",
            "5:ZooKeeper cannot be reached",
            "6:already running",
        },
        footer = {
            "",
            "For developers, each with its own --help:",
            "  bench       Measure parts of GlobalFS on this machine.",
            "  jepsen      Break a cluster, and judge what its clients were told.",
            "  test        Run all tests.",
            "",
            "Start with: globalfs quickstart"
        })
public final class GlobalFsCommand implements Runnable {
    /** In the order of the help. */
    static final List<Class<?>> COMMANDS =
            List.of(
                    QuickstartCommand.class,
                    UpCommand.class,
                    StatusCommand.class,
                    FsckCommand.class,
                    RingCommand.class,
                    DatastoreCommand.class,
                    StopCommand.class,
                    StartCommand.class,
                    KillCommand.class,
                    ServerCommand.class,
                    MountCommand.class,
                    UmountCommand.class,
                    StatsCommand.class,
                    TraceCommand.class,
                    QuotaCommand.class,
                    PlaceCommand.class,
                    SimCommand.class,
                    HostCommand.class,
                    CompletionCommand.class,
                    WarmUpCommand.class);

    @Spec private CommandSpec spec;

    /**
     * The command line of one call. It has only the command that the call names, when it names one:
     * reading what all of them say of themselves is nearly half of a short call's time.
     */
    public static CommandLine commandLine(String... arguments) {
        CommandLine line = new CommandLine(new GlobalFsCommand());
        for (Class<?> command : named(arguments)) {
            line.addSubcommand(command);
        }
        line.setExecutionExceptionHandler((thrown, command, parsed) -> {
            boolean expected =
                    thrown instanceof Failure || Failure.codeOf(thrown) != ExitCode.FAILED;
            if (!expected && System.getenv("GLOBALFS_DEBUG") != null) {
                thrown.printStackTrace(System.err);
            }
            System.err.println("globalfs: " + Failure.describe(thrown));
            return Failure.codeOf(thrown);
        });
        line.setParameterExceptionHandler(new UsageErrors());
        line.setUsageHelpAutoWidth(true);
        line.getSubcommands().values().forEach(GlobalFsCommand::addVersion);
        return line;
    }

    /** All know {@code --version}. */
    private static void addVersion(CommandLine command) {
        command.getCommandSpec().versionProvider(new Version());
        command.getSubcommands().values().forEach(GlobalFsCommand::addVersion);
    }

    private static List<Class<?>> named(String... arguments) {
        if (arguments.length == 0) {
            return COMMANDS;
        }
        List<Class<?>> named =
                COMMANDS.stream().filter(command -> name(command).equals(arguments[0])).toList();
        return named.isEmpty() ? COMMANDS : named;
    }

    private static String name(Class<?> command) {
        return command.getAnnotation(Command.class).name();
    }

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }
}
