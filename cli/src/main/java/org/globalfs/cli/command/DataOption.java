package org.globalfs.cli.command;

import java.nio.file.Path;
import org.globalfs.cli.Failure;
import org.globalfs.cli.cluster.ClusterFolder;
import org.globalfs.cli.cluster.LocalCluster;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The option that names a local cluster's folder. */
final class DataOption {
    static final Path DEFAULT = Path.of("globalfs-data");

    @Option(
            names = "--data",
            scope = ScopeType.INHERIT,
            paramLabel = "DIR",
            description = "The cluster's folder (default: globalfs-data).")
    private @Nullable Path given;

    boolean isGiven() {
        return given != null;
    }

    Path folder() {
        return given == null ? DEFAULT : given;
    }

    ClusterFolder open() throws Failure {
        return ClusterFolder.open(folder());
    }

    LocalCluster cluster() throws Failure {
        return new LocalCluster(open(), System.out::println);
    }
}
