package org.globalfs.cli.command;

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
        subcommands = {
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
            WarmUpCommand.class,
        },
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
        footer = {"", "Start with: globalfs quickstart"})
public final class GlobalFsCommand implements Runnable {
    @Spec private CommandSpec spec;

    public static CommandLine commandLine() {
        CommandLine line = new CommandLine(new GlobalFsCommand());
        line.setExecutionExceptionHandler((thrown, command, parsed) -> {
            boolean expected =
                    thrown instanceof Failure || Failure.codeOf(thrown) != ExitCode.FAILED;
            if (!expected && System.getenv("GLOBALFS_DEBUG") != null) {
                thrown.printStackTrace(System.err);
            }
            System.err.println("globalfs: " + Failure.describe(thrown));
            return Failure.codeOf(thrown);
        });
        line.setUsageHelpAutoWidth(true);
        return line;
    }

    @Override
    public void run() {
        spec.commandLine().usage(System.out);
    }
}
