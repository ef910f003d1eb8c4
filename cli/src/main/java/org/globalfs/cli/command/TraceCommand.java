package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.client.control.ControlClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Shows what programs ask of a mount while they do. */
@Command(
        name = "trace",
        description = "Show each operation of a running mount, one line each, until Ctrl-C.",
        mixinStandardHelpOptions = true)
final class TraceCommand implements Callable<Integer> {
    @Parameters(paramLabel = "MOUNTPOINT", description = "Where it is mounted, on this machine.")
    private Path mountpoint = Path.of("");

    @Override
    public Integer call() throws Exception {
        return ThroughMount.run(mountpoint, this::trace);
    }

    private int trace() throws IOException {
        try (ControlClient client = ControlClient.ask(mountpoint, "trace")) {
            for (String line = client.line(); line != null; line = client.line()) {
                if (!line.isEmpty()) {
                    System.out.println(line);
                    if (System.out.checkError()) {
                        return ExitCode.OK; // who read this has seen enough
                    }
                }
            }
        }
        return ExitCode.OK;
    }
}
