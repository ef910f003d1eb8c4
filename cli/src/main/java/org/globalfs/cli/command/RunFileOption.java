package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.globalfs.cli.Failure;
import org.globalfs.cli.cluster.RunFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that names the file with the process's id. */
final class RunFileOption {
    @Option(
            names = RunFile.OPTION,
            paramLabel = "FILE.pid",
            description =
                    "Keep the process id in this file, and a FILE.ready beside it while serving.")
    private @Nullable Path path;

    /** For a process that another one starts; it may work in another folder. */
    @Nullable RunFile absolute() {
        return path == null ? null : new RunFile(path.toAbsolutePath());
    }

    void begin() throws IOException, Failure {
        if (path != null) {
            new RunFile(path).begin(ProcessHandle.current().pid());
        }
    }

    void ready() throws IOException {
        if (path != null) {
            new RunFile(path).ready();
        }
    }

    /** On an orderly end only: a crash leaves the file, so that it shows. */
    void end() {
        Optional.ofNullable(path)
                .ifPresent(file -> {
                    try {
                        new RunFile(file).end();
                    } catch (IOException e) {
                        System.err.println(
                                "globalfs: cannot delete " + file + ": " + e.getMessage());
                    }
                });
    }
}
