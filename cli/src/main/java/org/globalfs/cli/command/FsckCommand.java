package org.globalfs.cli.command;

import java.util.concurrent.Callable;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.fsck.Fsck;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Checks the whole tree while it serves. */
@Command(
        name = "fsck",
        description =
                "Check the tree's records against each other, and that the datastore has what files are made of, while all goes on; changes nothing.",
        mixinStandardHelpOptions = true)
final class FsckCommand implements Callable<Integer> {
    @Mixin private ClusterOption cluster = new ClusterOption();

    @Option(
            names = "--no-content",
            description = "Check the records only: not what the datastore has.")
    private boolean recordsOnly;

    @Override
    public Integer call() throws Exception {
        Fsck fsck = new Fsck(cluster.topology(), !recordsOnly, System.out::println);
        return fsck.clean() ? ExitCode.OK : ExitCode.FAILED;
    }
}
