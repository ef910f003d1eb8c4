package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Whoever dies in the middle of a move: the tree is whole and in use all the while, what was
 * acknowledged is there, nothing stays locked, and asking again does the rest.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class MoveFaultsIT {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final String WEST = "us-west";
    private static final String EAST = "us-east";

    /** A move has half a dozen commands: one takes at most 1 MiB of records along. */
    private static final String TREE =
            """
            mkdir -p proj/src/deep proj/in && cd proj
            head -c 4800000 /dev/urandom | split -a 3 -d -b 12000 - src/f
            head -c 6000000 /dev/urandom | split -a 3 -d -b 200000 - src/deep/g
            mkfifo pipe; ln -s src/f001 link; ln src/f002 ../outside; setfattr -n user.a -v b src/f003
            : > in/log
            """;

    /** All but the log, which is written to meanwhile. */
    private static final String LISTING =
            """
            find . -path ./in -prune -o -printf '%P %y %m %U %n %i %s %l\\n' | sort
            find . -path ./in -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
            getfattr -n user.a --only-values src/f003
            """;

    /** Each line that is acknowledged, and only those, is told. */
    private static final String APPEND =
            """
            for i in $(seq 1 100000); do
              [ ! -e "$1/stop" ] || exit 0
              echo "$2 $i" >> proj/in/log || exit 1
              sync proj/in/log || exit 2
              echo "$2 $i" >> "$1/acknowledged"
            done
            """;

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private LocalCluster cluster;
    private Path scratch;
    private String before = "";

    @BeforeAll
    void start() throws IOException {
        System.out.println("seed " + seed);
        scratch = Files.createTempDirectory("globalfs-acknowledged-");
        cluster = LocalCluster.start("movefaults");
        run(cluster.mount(WEST), TREE);
        cluster.awaitSeen("proj/in/log");
        before = run(cluster.mount(WEST).resolve("proj"), LISTING);
    }

    @AfterAll
    void stop() throws IOException {
        Shell.bash(Duration.ofSeconds(30), Path.of("/"), "rm -rf '" + scratch + "'");
        if (cluster != null) {
            cluster.close();
        }
    }

    private static String run(Path folder, String script) {
        return Shell.bash(LIMIT, folder, script).orFail();
    }

    private static Shell.Outcome place(String... words) {
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.add("place");
        command.addAll(List.of(words));
        return Shell.run(LIMIT, Path.of("/"), command);
    }

    @Test
    @Order(1)
    void theDestinationsCoordinatorDies() throws Exception {
        round(WEST, EAST, () -> List.of(cluster.coordinatorProcess(EAST)), true);
    }

    @Test
    @Order(2)
    void theSourcesCoordinatorDies() throws Exception {
        round(EAST, WEST, () -> List.of(cluster.coordinatorProcess(EAST)), true);
    }

    @Test
    @Order(3)
    void theCoordinatorOfAllRegionsDies() throws Exception {
        round(WEST, EAST, () -> List.of(cluster.globalCoordinatorProcess()), true);
    }

    @Test
    @Order(4)
    void theMountThatAsksForItDies() throws Exception {
        round(EAST, WEST, () -> List.of("mount-" + WEST), false);
    }

    @Test
    @Order(5)
    void theWholeDestinationDies() throws Exception {
        round(WEST, EAST, () -> List.of(EAST + "-a", EAST + "-b", EAST + "-c"), false);
    }

    @Test
    @Order(6)
    void theWholeSourceAndTheMountThatAsksDie() throws Exception {
        round(
                EAST,
                WEST,
                () -> List.of(EAST + "-a", EAST + "-b", EAST + "-c", "mount-" + WEST),
                false);
    }

    @Test
    @Order(7)
    void theOracleDies() throws Exception {
        Path policy = cluster.data().resolve("config/policy.yaml");
        Path east = cluster.mount(EAST);
        Files.writeString(policy, "rules:\n  - path: /proj\n    move: eager\n    residence: 0s\n");
        CompletableFuture<Shell.Outcome> users = Shell.meanwhile(() -> append(EAST));
        String use = "cat proj/src/f* > /dev/null; ls -l proj/src proj/src/deep > /dev/null";
        for (int i = 0; i < 5; i++) {
            run(east, use);
        }
        killAfter(random.nextInt(4_000), List.of(EAST + "-a")); // the oracle runs in its process
        cluster.restart(EAST + "-a");
        await().atMost(LIMIT)
                .untilAsserted(() -> {
                    run(east, use);
                    assertThat(place("show", east.resolve("proj").toString()).orFail())
                            .doesNotContain(WEST);
                });
        Files.writeString(policy, "rules:\n  - path: /\n    move: off\n");
        endOf(users).orFail();
        check();
        cluster.awaitEqualHashes(Duration.ofMinutes(2));
    }

    /**
     * @param victims of kill -9, somewhere between the first question and the last block that
     *     follows
     * @param unnoticed by those who use the tree from the third region
     */
    private void round(String from, String to, Supplier<List<String>> victims, boolean unnoticed)
            throws Exception {
        String tree = cluster.mount(to).resolve("proj").toString();
        List<String> dead = victims.get();
        int delayMs = 300 + random.nextInt(1_500);
        System.out.println(from + " to " + to + ", " + dead + " after " + delayMs + " ms");
        CompletableFuture<Shell.Outcome> users = Shell.meanwhile(() -> append("eu-west"));
        CompletableFuture<Shell.Outcome> move = Shell.meanwhile(() -> place("move", tree, to));
        killAfter(delayMs, dead);
        if (unnoticed) {
            move.join();
        }
        cluster.restart(dead.toArray(String[]::new));
        Shell.Outcome moved = move.join();
        if (!moved.ok()) {
            assertThat(moved.output()).contains("globalfs: ");
        }
        await().atMost(LIMIT).untilAsserted(() -> place("move", tree, to).orFail());
        assertThat(place("show", tree).orFail()).contains(to).doesNotContain(from);
        Shell.Outcome appended = endOf(users);
        if (unnoticed) {
            appended.orFail();
        }
        check();
    }

    private void killAfter(int delayMs, List<String> processes) {
        run(
                cluster.data().resolve("run"),
                "sleep "
                        + delayMs / 1e3
                        + " && kill -9 $(cat "
                        + String.join(".pid ", processes)
                        + ".pid)");
    }

    private Shell.Outcome append(String region) {
        List<String> command =
                List.of("bash", "-c", APPEND, "append", scratch.toString(), region + seed());
        return Shell.run(LIMIT, cluster.mount(region), command);
    }

    /** Lines are told apart by who wrote them. */
    private synchronized int seed() {
        return random.nextInt(1_000_000);
    }

    private Shell.Outcome endOf(CompletableFuture<Shell.Outcome> users) throws IOException {
        Path stop = Files.writeString(scratch.resolve("stop"), "");
        Shell.Outcome outcome = users.join();
        Files.delete(stop);
        return outcome;
    }

    private void check() throws IOException {
        for (String region : LocalCluster.REGIONS) {
            Path mount = cluster.mount(region);
            assertThat(run(mount.resolve("proj"), LISTING)).as(region).isEqualTo(before);
            run(
                    mount,
                    "cmp outside proj/src/f002 && flock -n proj/src/f001 true && flock -n proj true");
            String log = run(mount, "cat proj/in/log");
            assertThat(log.lines()).as(region).containsAll(acknowledged());
            run(mount, "echo > proj/in/new && mv proj/in/new proj/moved && rm proj/moved");
        }
        assertThat(cluster.globalfs(LIMIT, "fsck").orFail()).contains("clean");
    }

    private List<String> acknowledged() throws IOException {
        Path file = scratch.resolve("acknowledged");
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }
}
