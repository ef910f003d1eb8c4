package org.globalfs.cli.command;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** One process of a cluster. */
@Command(
        name = "server",
        description = "Run one server process: the roles that its YAML file names.",
        mixinStandardHelpOptions = true)
final class ServerCommand implements Callable<Integer> {
    @Option(
            names = "--config",
            required = true,
            paramLabel = "FILE",
            description = "The process's YAML file.")
    private Path config = Path.of("");

    @Option(names = "--verbose", description = "Log more.")
    private boolean verbose;

    @Mixin private RunFileOption runFile = new RunFileOption();

    @Override
    public Integer call() throws Exception {
        return Serving.run(List.of(ConfigFiles.server(config)), runFile, verbose);
    }
}
