package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.globalfs.protocol.FreePorts;
import org.junit.jupiter.api.Test;

/** A new server takes the place of a region's replica, while programs write. */
final class RingIT {
    private static final Duration MINUTES = Duration.ofMinutes(2);

    /** Like us-west-c's, but with a metadata replica only, and another one's number and ports. */
    private static Path newServer(LocalCluster cluster) throws IOException {
        String like = Files.readString(cluster.data().resolve("config").resolve("us-west-c.yaml"));
        String head = like.substring(0, like.indexOf("roles:"));
        String topology = like.substring(like.indexOf("topology:"));
        String site =
                "      - id: 10\n        datacenter: d\n        ring: 127.0.0.1:"
                        + FreePorts.one()
                        + "\n        rpc: 127.0.0.1:"
                        + FreePorts.one()
                        + "\n        added: true\n";
        String yaml =
                head.replace("us-west-c", "us-west-d").replace("datacenter: c", "datacenter: d")
                        + "roles:\n  replica:\n    id: 10\n"
                        + "  storage:\n    - id: us-west-d-1\n      port: "
                        + FreePorts.one()
                        + "\n"
                        + topology.replace("  - region: us-east", site + "  - region: us-east");
        return Files.writeString(cluster.data().resolve("config").resolve("us-west-d.yaml"), yaml);
    }

    private static Process serve(LocalCluster cluster, Path config) throws IOException {
        List<String> line = new ArrayList<>(LocalCluster.launcher());
        line.addAll(List.of("server", "--config", config.toString()));
        return new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(cluster.data().resolve("log").resolve("us-west-d.log").toFile())
                .start();
    }

    private static boolean serves(LocalCluster cluster) {
        try {
            return Files.readString(cluster.data().resolve("log").resolve("us-west-d.log"))
                    .contains("replica 10 of region us-west serves");
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void aNewServerTakesAReplicasPlace() throws Exception {
        Path scratch = Files.createTempDirectory("globalfs-ring-");
        Process added = null;
        try (LocalCluster cluster = LocalCluster.start("ring")) {
            Path folder = cluster.mount("us-west").resolve("ring");
            Shell.bash(MINUTES, scratch, "mkdir '" + folder + "'").orFail();
            FsyncWriter writer = new FsyncWriter(scratch);
            Path journal = scratch.resolve("journal");
            CompletableFuture<Shell.Outcome> writing =
                    Shell.meanwhile(() -> writer.run(Duration.ofMinutes(10), folder, journal, 1));
            assertThat(cluster.globalfs(MINUTES, "ring", "add", "10").output())
                    .contains("no replica 10 is known");
            added = serve(cluster, newServer(cluster));
            LocalCluster.await(
                    MINUTES,
                    () -> FsyncWriter.acknowledged(journal) >= 20 && serves(cluster),
                    () -> "too few files were written, or the new server does not start");

            String told = cluster.globalfs(MINUTES, "ring", "replace", "3", "10").orFail();
            assertThat(told)
                    .contains("ring 0: replica 10 decides")
                    .contains("ring 1: replica 10 decides instead of replica 3")
                    .contains("ring 0: replica 3 has left");
            int before = FsyncWriter.acknowledged(journal);
            LocalCluster.await(
                    MINUTES,
                    () -> FsyncWriter.acknowledged(journal) >= before + 20,
                    () -> "nothing is written any more");
            writer.stop();
            assertThat(writing.join().exitCode()).isZero();
            assertThat(cluster.globalfs(MINUTES, "ring", "list").orFail())
                    .containsPattern("1 us-west +\\d+ +\\d+ +1 2 10 +-")
                    .containsPattern("0 global +\\d+ +\\d+ +1 2 4 5 6 7 8 9 10 +-");

            itsVoteCounts(cluster, folder);
            FsyncWriter.check(folder, journal);
            FsyncWriter.check(cluster.mount("eu-west").resolve("ring"), journal);
            refusesNonsense(cluster);
            itsStorageNodeTakesAnothersPlace(cluster, folder);
        } finally {
            if (added != null) {
                added.destroyForcibly().waitFor();
            }
            Shell.bash(MINUTES, Path.of("/"), "rm -rf '" + scratch + "'");
        }
    }

    /** Of 1, 2 and 10 one may be down, and 3 is not needed. */
    private static void itsVoteCounts(LocalCluster cluster, Path folder) {
        cluster.kill("us-west-c");
        cluster.kill("us-west-a");
        Shell.bash(MINUTES, folder, "echo decided > small && sync small && cat small").orFail();
        cluster.restart("us-west-a");
        cluster.restart("us-west-c");
        LocalCluster.await(
                MINUTES,
                () ->
                        cluster.globalfs(MINUTES, "status")
                                .output()
                                .matches("(?s).*replica 3 .*not a member.*"),
                () -> "replica 3 takes itself for a member: " + cluster.status());
        Shell.bash(MINUTES, folder, "cat small").orFail();
    }

    /** Six nodes are needed; with the seventh one of the others can go. */
    private static void itsStorageNodeTakesAnothersPlace(LocalCluster cluster, Path folder) {
        Shell.bash(
                        MINUTES,
                        folder,
                        "head -c 20000000 /dev/urandom > large; sync large; sha256sum large > sum")
                .orFail();
        assertThat(cluster.globalfs(MINUTES, "datastore", "drain", "us-west-a-1").orFail())
                .contains("us-west-a-1 holds nothing any more");
        assertThat(cluster.globalfs(MINUTES, "datastore", "status").orFail())
                .containsPattern("us-west-a-1 +us-west +a +drained +0 ")
                .containsPattern("us-west-d-1 +us-west +d +up +[1-9]");
        assertThat(cluster.globalfs(MINUTES, "datastore", "drain", "us-west-b-1").output())
                .contains("RS(4,2) needs 6 storage nodes");
        assertThat(cluster.globalfs(MINUTES, "datastore", "drain", "nobody").output())
                .contains("no storage node 'nobody' is known");
        cluster.kill("us-west-a");
        Shell.bash(
                        MINUTES,
                        cluster.mount("eu-west").resolve("ring"),
                        "for i in $(seq 100); do [ -e sum ] && break; sleep 0.1; done; sha256sum -c sum")
                .orFail();
        cluster.restart("us-west-a");
        assertThat(cluster.globalfs(MINUTES, "datastore", "readmit", "us-west-a-1").orFail())
                .contains("takes its place again");
        LocalCluster.await(
                MINUTES,
                () ->
                        cluster.globalfs(MINUTES, "datastore", "status")
                                .output()
                                .matches("(?s).*us-west-a-1 +us-west +a +up +[1-9].*"),
                () -> "us-west-a-1 gets nothing: " + cluster.status());
    }

    private static void refusesNonsense(LocalCluster cluster) {
        assertThat(cluster.globalfs(MINUTES, "ring", "remove", "99").output())
                .contains("no replica 99 is known");
        assertThat(cluster.globalfs(MINUTES, "ring", "replace", "4", "10").output())
                .contains("not of the region");
        assertThat(cluster.globalfs(MINUTES, "ring").exitCode()).isEqualTo(2);
    }
}
