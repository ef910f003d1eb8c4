package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * A whole cluster on one small disk that gets full: what was acknowledged stays, what frees space
 * works, and all goes on when there is space again. Needs root, for a file system of its own.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class FullDiskIT {
    private static final Duration LIMIT = Duration.ofMinutes(4);
    private static final int DISK_MIB = 768;
    private static final String A = "us-west";
    private static final String B = "eu-west";

    private Path scratch;
    private Path disk;
    private Path script;
    private LocalCluster cluster;

    @BeforeAll
    void start() throws IOException {
        Assumptions.assumeTrue(
                "0".equals(Shell.bash(LIMIT, Path.of("/"), "id -u").orFail().strip()),
                "SKIPPED: needs root to mount a small file system");
        scratch = Files.createTempDirectory("globalfs-full-");
        disk = Files.createDirectory(scratch.resolve("disk"));
        script = scratch.resolve("disk.py");
        try (InputStream in = FullDiskIT.class.getResourceAsStream("/full/disk.py")) {
            Files.write(script, Objects.requireNonNull(in).readAllBytes());
        }
        Shell.bash(
                        LIMIT,
                        scratch,
                        "truncate -s "
                                + DISK_MIB
                                + "M image; mkfs.ext4 -q -m 0 image; mount -o loop image disk;"
                                + " rm -rf disk/lost+found")
                .orFail();
        // Deleted files give their space back after that.
        cluster = LocalCluster.start(disk.resolve("cluster"), "-Dglobalfs.orphan.grace=10");
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
        if (scratch != null) {
            Shell.bash(
                    Duration.ofSeconds(30),
                    Path.of("/"),
                    "mountpoint -q '"
                            + disk
                            + "' && umount --lazy '" // what was killed may not have ended yet
                            + disk
                            + "'; rm -rf '"
                            + scratch
                            + "'");
        }
    }

    private String rule(String rule) {
        return Shell.run(
                        LIMIT,
                        scratch,
                        List.of(
                                "python3",
                                script.toString(),
                                rule,
                                cluster.mount(A).toString(),
                                cluster.mount(B).toString(),
                                scratch.resolve("notes.json").toString()))
                .orFail()
                .strip();
    }

    /** Whether replicas say that they are full; "null" of one that does not answer. */
    private List<Object> full() {
        List<Object> full = new ArrayList<>();
        for (Map<?, ?> region : LocalCluster.maps(cluster.status(), "regions")) {
            for (Map<?, ?> replica : LocalCluster.maps(region, "replicas")) {
                full.add(String.valueOf(replica.get("full")));
            }
        }
        return full;
    }

    @Test
    @Order(1)
    void contentEndsWithEnospcAndDescriptorsGoOn() {
        rule("big");
        assertThat(full()).hasSize(9).containsOnly("false");
    }

    @Test
    @Order(2)
    void smallFilesEndWithEnospcAndNoReplicaDies() {
        rule("small");
        assertThat(full()).hasSize(9).containsOnly("true");
        assertThat(cluster.globalfs(LIMIT, "status").orFail()).contains("DISK FULL");
    }

    @Test
    @Order(3)
    void whatNeedsNoRoomWorksMeanwhile() {
        rule("used");
        assertThat(full()).hasSize(9).doesNotContain("null");
    }

    @Test
    @Order(4)
    void roomReturnsWithoutARestart() {
        rule("removed");
    }

    @Test
    @Order(5)
    void theLastByteTakenByOthersLosesNothing() {
        CompletableFuture<String> load = Shell.meanwhile(() -> rule("load"));
        LocalCluster.await(
                LIMIT,
                () -> load.isDone() || Files.exists(scratch.resolve("notes.json.begun")),
                () -> "no 20 files written: " + full());
        if (load.isDone()) {
            load.join(); // it ended too soon, and says why
        }
        takeTheLastByte();
        Shell.bash(LIMIT, disk, "rm ballast").orFail();
        LocalCluster.await(LIMIT, this::allServeAgain, () -> "not all serve: " + full());
        Shell.bash(LIMIT, scratch, "touch notes.json.stop").orFail();
        System.out.println("files tried under load: " + load.join());
        rule("verify");
    }

    /** One that found no room ends a moment after; so they are started until all answer. */
    private boolean allServeAgain() {
        List<String> names = new ArrayList<>(List.of("zookeeper"));
        for (String region : LocalCluster.REGIONS) {
            for (String datacenter : List.of("a", "b", "c")) {
                names.add(region + "-" + datacenter);
            }
        }
        cluster.restart(names.toArray(String[]::new));
        return !full().contains("null");
    }

    /** For some seconds, whatever the cluster gives back meanwhile. */
    private void takeTheLastByte() {
        String ballast =
                "dd if=/dev/zero of=ballast bs=1M oflag=append conv=notrunc status=none || true;"
                        + " end=$((SECONDS + 8)); while [ $SECONDS -lt $end ]; do"
                        + " dd if=/dev/zero of=ballast bs=4k oflag=append conv=notrunc,fsync status=none"
                        + " || true; sleep 0.2; done";
        assertThat(Shell.bash(LIMIT, disk, ballast).orFail()).contains("No space left on device");
    }

    @Test
    @Order(6)
    void theSpaceOfRemovedFilesIsThereAgain() {
        rule("room");
        rule("verify");
        cluster.awaitEqualHashes(LIMIT);
    }
}
