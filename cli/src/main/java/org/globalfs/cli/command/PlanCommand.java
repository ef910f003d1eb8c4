package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.status.Columns;
import org.globalfs.oracle.AccessTrace;
import org.globalfs.oracle.policy.Replay;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.config.PolicyFile;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what a policy would have moved. */
@Command(
        name = "plan",
        description = {
            "Replay a trace of accesses, and show which trees a policy would have moved when.",
            "The trace is text, a line for what a region did in a directory, in the order of time:",
            "SECONDS REGION READS WRITES PATH. A line 'home REGION PATH' says where one lived at"
                    + " first; otherwise that is with its first user."
        },
        mixinStandardHelpOptions = true)
final class PlanCommand implements Callable<Integer> {

    @Option(
            names = "--policy",
            paramLabel = "FILE",
            required = true,
            description = "The policy, as in roles.oracle.policy.")
    private Path policy = Path.of("");

    @Parameters(paramLabel = "TRACE", description = "The trace.")
    private Path trace = Path.of("");

    @Override
    public Integer call() throws ConfigException, IOException {
        Replay.Summary summary = AccessTrace.replay(trace, PolicyFile.read(policy));
        if (!summary.moves().isEmpty()) {
            System.out.print(table(summary.moves()));
        }
        System.out.printf(
                Locale.ROOT,
                "%,d moves; %,d operations, %s of them by users of the region that the directory"
                        + " lived in (without moves %s)%n",
                summary.moves().size(),
                summary.operations(),
                share(summary.local(), summary.operations()),
                share(summary.localWithout(), summary.operations()));
        return ExitCode.OK;
    }

    private static String table(List<Replay.Move> moves) {
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("SECONDS", "FROM", "TO", "THERE", "ELSEWHERE", "MOVED", "DIRECTORY"));
        for (Replay.Move move : moves) {
            rows.add(
                    List.of(
                            String.format(Locale.ROOT, "%,.0f", move.timeMs() / 1_000.0),
                            move.from(),
                            move.to(),
                            String.format(Locale.ROOT, "%,.0f", move.own()),
                            String.format(Locale.ROOT, "%,.0f", move.others()),
                            String.format(Locale.ROOT, "%,d", move.directories()),
                            move.path()));
        }
        return Columns.of(rows);
    }

    private static String share(long part, long all) {
        return String.format(Locale.ROOT, "%.1f %%", all == 0 ? 0 : 100.0 * part / all);
    }
}
