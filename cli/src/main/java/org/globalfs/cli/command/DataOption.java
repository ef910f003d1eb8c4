package org.globalfs.cli.command;

import java.nio.file.Path;
import org.globalfs.cli.Failure;
import org.globalfs.cli.cluster.ClusterFolder;
import org.globalfs.cli.cluster.LocalCluster;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The option that names a local cluster's folder. */
final class DataOption {
    @Option(
            names = "--data",
            scope = ScopeType.INHERIT,
            paramLabel = "DIR",
            description = "The cluster's folder (default: ${DEFAULT-VALUE}).",
            defaultValue = "globalfs-data")
    Path folder = Path.of("globalfs-data");

    ClusterFolder open() throws Failure {
        return ClusterFolder.open(folder);
    }

    LocalCluster cluster() throws Failure {
        return new LocalCluster(open(), System.out::println);
    }
}
