package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.globalfs.protocol.FreePorts;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Each mistake that an operator can make gets one clear error and its documented exit code. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class BadInputIT {
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private LocalCluster cluster;
    private Path scratch;

    @BeforeAll
    void start() throws IOException {
        scratch = Files.createTempDirectory("globalfs-bad-");
        cluster = LocalCluster.start("bad");
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
        Shell.bash(LIMIT, Path.of("/"), "rm -rf '" + scratch + "'");
    }

    @Test
    void secondClusterOnTheSameFolder() {
        Shell.Outcome outcome = cluster.globalfs(LIMIT, "quickstart", "--background");
        assertThat(outcome.exitCode()).as(outcome.output()).isEqualTo(6);
        assertThat(outcome.output())
                .contains(cluster.data().toString())
                .contains("in use")
                .contains("stop");
    }

    @Test
    void unknownConfigKey() throws IOException {
        Path config = changed("us-west-a", text -> text + "\ndurabilty: disk\n");
        fails(3, "durabilty", "server", "--config", config.toString());
    }

    @Test
    void missingConfigKey() throws IOException {
        Path config = changed("us-west-a", text -> text.replaceAll("(?m)^region:.*\n", ""));
        fails(3, "region", "server", "--config", config.toString());
    }

    @Test
    void missingConfigFile() {
        fails(3, "nowhere.yaml", "server", "--config", scratch.resolve("nowhere.yaml").toString());
    }

    @Test
    void folderOfAnotherCluster() throws IOException {
        // the process itself must be gone, or its ports are what is noticed first
        cluster.kill("eu-west-c");
        Path config =
                changed(
                        "eu-west-c",
                        text -> text.replaceAll("(?m)^cluster:.*$", "cluster: another"));
        fails(3, "cluster", "server", "--config", config.toString());
    }

    @Test
    void busyPort() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int port = taken.getLocalPort();
            Path folder = scratch.resolve("zk");
            Path config =
                    changed(
                            "zookeeper",
                            text ->
                                    text.replaceAll("(?m)^data:.*$", "data: " + folder)
                                            .replaceAll("port: *[0-9]+", "port: " + port));
            fails(4, Integer.toString(port), "server", "--config", config.toString());
        }
    }

    @Test
    void unreachableZooKeeper() throws IOException {
        int port = FreePorts.one();
        Path mountpoint = Files.createDirectories(scratch.resolve("mnt"));
        Path config =
                changed(
                        "mount-us-west",
                        text ->
                                text.replaceAll(
                                        "(?m)^zookeeper:.*$", "zookeeper: 127.0.0.1:" + port));
        fails(
                5,
                "127.0.0.1:" + port,
                "mount",
                "--config",
                config.toString(),
                mountpoint.toString());
    }

    @Test
    void unknownClusterOrRegion() throws IOException {
        Path mountpoint = Files.createDirectories(scratch.resolve("mnt"));
        Path region = changed("mount-us-west", text -> text.replace("us-west", "us-wst"));
        fails(3, "'us-wst'", "mount", "--config", region.toString(), mountpoint.toString());
        Path config =
                changed("mount-us-west", text -> text.replaceAll("(?m)^cluster:.*$", "cluster: x"));
        fails(3, "cluster 'x'", "mount", "--config", config.toString(), mountpoint.toString());
    }

    @Test
    void missingMountpoint() {
        String config = cluster.data().resolve("config").resolve("mount-us-west.yaml").toString();
        fails(3, "nowhere", "mount", "--config", config, scratch.resolve("nowhere").toString());
    }

    @Test
    void unknownCommand() {
        fails(2, "mountt", "mountt");
    }

    private interface Change {
        String of(String text);
    }

    private Path changed(String name, Change change) throws IOException {
        String text = Files.readString(cluster.data().resolve("config").resolve(name + ".yaml"));
        String bad = change.of(text);
        assertThat(bad).isNotEqualTo(text);
        // beside the original: the folders that it names are relative to it
        Path folder = cluster.data().resolve("config");
        return Files.writeString(folder.resolve("changed-" + name + ".yaml"), bad);
    }

    private void fails(int exitCode, String names, String... arguments) {
        List<String> line = new ArrayList<>(LocalCluster.launcher());
        line.addAll(List.of(arguments));
        Shell.Outcome outcome = Shell.run(LIMIT, scratch, line);
        assertThat(outcome.exitCode()).as(outcome.output()).isEqualTo(exitCode);
        assertThat(outcome.output()).contains(names).doesNotContain("\tat ");
    }
}
