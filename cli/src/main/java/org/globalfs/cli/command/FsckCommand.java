package org.globalfs.cli.command;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.fsck.Fsck;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Checks the whole tree while it serves. */
@Command(
        name = "fsck",
        description =
                "Check the tree's records against each other, at the replicas, while all goes on; changes nothing.",
        mixinStandardHelpOptions = true)
final class FsckCommand implements Callable<Integer> {
    @Mixin private DataOption data = new DataOption();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "A server's YAML file, for a cluster that is not in a local folder.")
    private @Nullable Path config;

    @Override
    public Integer call() throws Exception {
        Fsck fsck = new Fsck(KnownTopology.of(data, config), System.out::println);
        return fsck.clean() ? ExitCode.OK : ExitCode.FAILED;
    }
}
