package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.status.StatsTable;
import org.globalfs.client.control.ControlClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows what a mount has done so far, and how fast. */
@Command(
        name = "stats",
        description = "Show a running mount's operations, times, bytes, caches and retries.",
        mixinStandardHelpOptions = true)
final class StatsCommand implements Callable<Integer> {
    @Option(names = "--json", description = "Print JSON, one document.")
    private boolean json;

    @Option(
            names = "--watch",
            paramLabel = "SECONDS",
            description = "Print again every so many seconds, until Ctrl-C.")
    private int watchSeconds;

    @Parameters(paramLabel = "MOUNTPOINT", description = "Where it is mounted, on this machine.")
    private Path mountpoint = Path.of("");

    @Override
    public Integer call() throws Exception {
        if (watchSeconds < 0) {
            throw new Failure(
                    ExitCode.USAGE, "--watch " + watchSeconds + ": give seconds from 1 on");
        }
        print();
        while (watchSeconds > 0) {
            Thread.sleep(watchSeconds * 1000L);
            System.out.println();
            print();
        }
        return ExitCode.OK;
    }

    private void print() throws IOException {
        StringBuilder answer = new StringBuilder();
        try (ControlClient client = ControlClient.ask(mountpoint, "stats", ThroughMount.ANSWER)) {
            for (String line = client.line(); line != null; line = client.line()) {
                answer.append(line).append('\n');
            }
        }
        System.out.print(json ? answer : StatsTable.of(answer.toString()));
    }
}
