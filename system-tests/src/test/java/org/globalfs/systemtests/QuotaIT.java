package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * A quota is exact whoever uses it up, from whichever region, in a region's partition and in the
 * global one; a full one hinders no removal; what was there before it, or comes from another
 * partition, is counted, whatever happens meanwhile; it moves with its directory.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class QuotaIT {
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String A = "us-west";
    private static final String B = "eu-west";

    private LocalCluster cluster;
    private Path scratch;
    private Path rules;

    @BeforeAll
    void start() throws IOException {
        scratch = Files.createTempDirectory("globalfs-quota-");
        rules = scratch.resolve("rules.py");
        try (InputStream in = QuotaIT.class.getResourceAsStream("/quota/rules.py")) {
            Files.write(rules, Objects.requireNonNull(in).readAllBytes());
        }
        cluster = LocalCluster.start("quota");
        Shell.bash(LIMIT, cluster.mount(A), "mkdir -p quota/tree quota/old").orFail();
        cluster.awaitSeen("quota/tree", "quota/old");
    }

    @AfterAll
    void stop() throws IOException {
        if (cluster != null) {
            cluster.close();
        }
        Shell.bash(Duration.ofSeconds(30), Path.of("/"), "rm -rf '" + scratch + "'");
    }

    private String rule(String rule) {
        return Shell.run(
                        LIMIT,
                        scratch,
                        List.of(
                                "python3",
                                rules.toString(),
                                rule,
                                cluster.mount(A).toString(),
                                cluster.mount(B).toString()))
                .orFail();
    }

    private static Shell.Outcome quota(String... words) {
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.add("quota");
        command.addAll(Arrays.asList(words));
        return Shell.run(LIMIT, Path.of("/"), command);
    }

    @Test
    @Order(1)
    void theCommandSetsAndShows() {
        String tree = cluster.mount(A).resolve("quota/tree").toString();
        quota("set", tree, "--bytes", "10G", "--inodes", "100k").orFail();
        String shown = quota("show", cluster.mount(B).resolve("quota/tree").toString()).orFail();
        assertThat(shown).contains("10.0 GiB", "100000", "/quota/tree");
        assertThat(quota("list", cluster.mount(B).toString()).orFail())
                .contains("10.0 GiB", " /quota/tree");
        assertThat(shown).contains("what lives elsewhere below it", "is not");
        assertThat(quota("set", tree, "--bytes", "much").exitCode()).isEqualTo(2);
        quota("clear", tree).orFail();
        assertThat(quota("show", tree).orFail()).contains("no quota");
        assertThat(quota("clear", tree).output()).contains("it has no quota");
        Shell.Outcome other =
                Shell.bash(
                        LIMIT,
                        scratch,
                        "setpriv --reuid 1000 --clear-groups python3 -c \"import os;"
                                + "os.setxattr('"
                                + tree
                                + "','user.globalfs.quota',b'bytes=1')\"");
        assertThat(other.ok()).isFalse();
    }

    @Test
    @Order(2)
    void theLastInodeThatFitsFits() {
        rule("inodes");
    }

    @Test
    @Order(3)
    void theLastByteThatFitsFits() {
        rule("space");
        assertThat(cluster.globalfs(LIMIT, "fsck").orFail()).contains("clean");
    }

    @Test
    @Order(4)
    void aTreeOfTheGlobalPartitionIsExactForAllRegions() {
        rule("everybody");
    }

    @Test
    @Order(5)
    void aTreeThatMovesBelowAQuotaOfTheGlobalPartitionIsCounted() {
        Path root = cluster.mount(A);
        quota("set", root.toString(), "--bytes", "1T").orFail();
        rule("countsRoot");
        Shell.bash(LIMIT, root, "mkdir -p team/src && touch team/src/f{1..20} team/g").orFail();
        Shell.bash(LIMIT, root, "head -c 300000 /dev/urandom > team/src/large; sync team/src/large")
                .orFail();
        String before = rule("countsRoot");
        List<String> move = new ArrayList<>(LocalCluster.launcher());
        move.addAll(List.of("place", "move", root.resolve("team").toString(), "global"));
        Shell.run(LIMIT, Path.of("/"), move).orFail();
        assertThat(difference(before, rule("countsRoot")))
                .as("two directories, 22 files")
                .isEqualTo(24);
        assertThat(quota("list", cluster.mount(B).toString()).orFail())
                .contains("1.0 TiB")
                .containsPattern("(?m) /$");
        Shell.bash(LIMIT, cluster.mount(B), "rm -r team").orFail();
        assertThat(rule("countsRoot")).isEqualTo(before);
        quota("clear", root.toString()).orFail();
        assertThat(cluster.globalfs(LIMIT, "fsck").orFail()).contains("clean");
    }

    private static int difference(String before, String after) {
        return Integer.parseInt(after.strip().split(" ")[0])
                - Integer.parseInt(before.strip().split(" ")[0]);
    }

    @Test
    @Order(6)
    void aQuotaMovesAlongWithItsDirectory() {
        Path root = cluster.mount(A);
        Shell.bash(LIMIT, root, "mkdir -p moving/src && touch moving/src/f{1..20} moving/g")
                .orFail();
        Shell.bash(
                        LIMIT,
                        root,
                        "head -c 300000 /dev/urandom > moving/src/large; sync moving/src/large")
                .orFail();
        cluster.awaitSeen("moving/src/large");
        String tree = root.resolve("moving").toString();
        quota("set", tree, "--bytes", "4M", "--inodes", "40").orFail();
        rule("moved");
        for (String to : List.of(B, "global", A)) {
            move(to);
            rule("moved");
            for (String from : List.of(A, B)) {
                assertThat(
                                quota("show", cluster.mount(from).resolve("moving/src").toString())
                                        .orFail())
                        .as("in %s, from %s", to, from)
                        .contains("4.0 MiB", "/moving");
            }
        }
        assertThat(quota("list", root.toString()).orFail()).containsOnlyOnce(" /moving");
        assertThat(cluster.globalfs(LIMIT, "fsck").orFail()).contains("clean");
        Shell.bash(LIMIT, root, "rm -r moving").orFail();
        assertThat(quota("list", root.toString()).orFail()).doesNotContain(" /moving");
    }

    /** What the move before took along has to have followed. */
    private void move(String to) {
        Path mount = cluster.mount(to.equals(B) ? B : A);
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.addAll(List.of("place", "move", mount.resolve("moving").toString(), to));
        await().atMost(LIMIT).untilAsserted(() -> Shell.run(LIMIT, Path.of("/"), command).orFail());
    }

    @Test
    @Order(7)
    void aTreeThatIsInUseIsCountedWhenTheCoordinatorDies() {
        rule("fill");
        CompletableFuture<String> load = Shell.meanwhile(() -> rule("grow"));
        Shell.bash(LIMIT, cluster.mount(A), "until [ -e quota/old/d5/n5 ]; do sleep 0.1; done")
                .orFail();
        String coordinator = cluster.coordinatorProcess(A);
        Shell.bash(
                        LIMIT,
                        cluster.mount(A),
                        "python3 -c \"import os;"
                                + "os.setxattr('quota/old','user.globalfs.quota',b'inodes=1000000')\"")
                .orFail();
        cluster.kill(coordinator);
        Shell.bash(LIMIT, cluster.mount(A), "sleep 2; : > quota/stop").orFail();
        int made = Integer.parseInt(load.join().strip());
        int counted = Integer.parseInt(rule("counted").strip());
        System.out.println("files made under load: " + made + ", counted: " + counted);
        assertThat(counted).isGreaterThan(600);
        cluster.restart(coordinator);
        cluster.awaitEqualHashes(LIMIT);
    }
}
