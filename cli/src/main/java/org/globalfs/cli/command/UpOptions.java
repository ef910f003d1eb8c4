package org.globalfs.cli.command;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.cli.ExitCode;
import org.globalfs.cli.Failure;
import org.globalfs.cli.cluster.ClusterFolder;
import org.globalfs.cli.cluster.LocalCluster;
import org.globalfs.cli.cluster.ShellWord;
import org.globalfs.protocol.config.ConfigException;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What quickstart and up share: bring a local cluster up, say so, and stay until it ends. */
final class UpOptions {
    @Mixin private DataOption data = new DataOption();

    @Option(
            names = "--background",
            description = "Return when everything serves; 'globalfs stop' ends it.")
    private boolean background;

    @Option(names = "--no-mount", description = "Start the servers only.")
    private boolean noMount;

    @Option(
            names = "--base-port",
            paramLabel = "PORT",
            description =
                    "First of 48 consecutive ports of a new cluster (default: free ones are found);"
                            + " a cluster that is there keeps its own.")
    private int basePort;

    /** Makes the folder of a cluster whose regions have these addresses, and starts nothing. */
    int configure(List<String> hosts) throws Failure, ConfigException, IOException {
        checkBasePort();
        ClusterFolder folder = ClusterFolder.openOrCreate(data.folder(), basePort, hosts);
        System.out.println("configured in " + folder.configs());
        return ExitCode.OK;
    }

    private void checkBasePort() throws Failure {
        if (basePort < 0 || basePort > 65_000) {
            throw new Failure(ExitCode.USAGE, "--base-port " + basePort + " is not in 1..65000");
        }
    }

    int run(boolean processes) throws Failure, ConfigException, IOException, InterruptedException {
        checkBasePort();
        long begun = System.nanoTime();
        try (LocalCluster cluster =
                LocalCluster.claim(
                        data.folder(), basePort, line -> System.out.println("  " + line))) {
            Thread hook = new Thread(() -> stop(cluster), "stop");
            Runtime.getRuntime().addShutdownHook(hook);
            System.out.println("GlobalFS " + Version.text() + ", cluster folder " + data.folder());
            try {
                cluster.up(processes, !noMount);
                System.out.print(summary(cluster.folder(), System.nanoTime() - begun));
                System.out.flush();
                if (!background) {
                    awaitEnd(cluster);
                }
            } finally {
                disarm(hook);
            }
            return background || cluster.deadServers().isEmpty() ? ExitCode.OK : ended(cluster);
        }
    }

    private static void disarm(Thread hook) {
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // Ctrl-C: the hook is at work and ends the program; this thread must not outrun it.
            LockSupport.park();
        }
    }

    private int ended(LocalCluster cluster) throws IOException, InterruptedException, Failure {
        System.err.println(
                "globalfs: ended unexpectedly: "
                        + String.join(", ", cluster.deadServers())
                        + "; see "
                        + data.folder().resolve("log"));
        cluster.stop();
        return ExitCode.FAILED;
    }

    private static void awaitEnd(LocalCluster cluster) throws IOException, InterruptedException {
        while (!cluster.runningServers().isEmpty()) {
            Thread.sleep(300);
        }
    }

    private static void stop(LocalCluster cluster) {
        System.out.println();
        try {
            cluster.cancelAndStop();
            System.out.println("stopped; the data stays in " + cluster.folder().root());
        } catch (IOException | Failure e) {
            System.err.println("globalfs: stopping failed: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        System.out.flush();
    }

    private String summary(ClusterFolder folder, long tookNs) {
        StringBuilder text = new StringBuilder();
        text.append(
                String.format(
                        "%nReady in %.1f s: 3 regions x 3 datacenters, each with a metadata replica and 2 storage nodes.%n",
                        tookNs / 1e9));
        Path mounts = data.folder().resolve("mnt");
        if (!noMount) {
            text.append("\nOne tree, mounted once per region:\n");
            for (String region : folder.regions()) {
                text.append("  ").append(ShellWord.of(mounts.resolve(region))).append('\n');
            }
            text.append("\nTry:\n");
            text.append("  mkdir ")
                    .append(ShellWord.of(mounts.resolve("us-west/hello")))
                    .append('\n');
            text.append("  date > ")
                    .append(ShellWord.of(mounts.resolve("us-west/hello/now")))
                    .append('\n');
            text.append("  cat ")
                    .append(ShellWord.of(mounts.resolve("eu-west/hello/now")))
                    .append('\n');
        }
        String option =
                data.folder().equals(DataOption.DEFAULT)
                        ? ""
                        : " --data " + ShellWord.of(data.folder());
        text.append("\nSee:  ./globalfs status").append(option);
        text.append("\nStop: ")
                .append(background ? "" : "Ctrl-C, or ")
                .append("./globalfs stop")
                .append(option);
        return text.append('\n').toString();
    }
}
