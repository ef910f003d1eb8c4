package org.globalfs.client;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.core.ConditionFactory;
import org.globalfs.client.vfs.Caller;
import org.globalfs.client.vfs.Explanation;
import org.globalfs.client.vfs.FsException;
import org.globalfs.oracle.OracleConfig;
import org.globalfs.oracle.OracleServer;
import org.globalfs.protocol.Errno;
import org.globalfs.protocol.config.ConfigException;
import org.globalfs.protocol.placement.MoveRule;
import org.globalfs.protocol.placement.PlacementPolicy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Oracles before real replicas let trees move to those who use them, as their policy says. */
@Timeout(240)
class OracleMovesTest {
    private static final int PERIOD_MS = 200;
    private static final String EAGER = "    move: eager\n    residence: 0s\n";

    @TempDir Path folder;

    private final Map<Integer, OracleServer> oracles = new TreeMap<>();
    private LocalCluster cluster;
    private GlobalFsClient west;
    private GlobalFsClient east;

    @BeforeEach
    void start() throws Exception {
        cluster = new LocalCluster(folder, 2);
        west = cluster.connect(1);
        east = cluster.connect(2);
    }

    @AfterEach
    void stop() throws Exception {
        west.close();
        east.close();
        oracles.values().forEach(OracleServer::close);
        cluster.close();
        assertThat(cluster.fatal).isEmpty();
    }

    private Path policy(String rules) throws IOException {
        return Files.writeString(folder.resolve("policy.yaml"), "rules:\n" + rules);
    }

    private void oracle(int region) throws IOException, ConfigException {
        OracleConfig config =
                new OracleConfig(
                        cluster.topology,
                        "region" + region,
                        "dc1",
                        "127.0.0.1",
                        "127.0.0.1",
                        0,
                        PlacementPolicy.standard(),
                        Optional.of(folder.resolve("policy.yaml")),
                        PERIOD_MS);
        oracles.put(region, OracleServer.start(config, cluster.discovery));
    }

    private static Caller root() {
        return Caller.of(0, 0, new int[0], System.nanoTime() + 60_000_000_000L);
    }

    private void plant(String tree, int directories, int files) throws FsException {
        PathOperations paths = west.paths(0, 0);
        paths.makeDirectory(tree, 0755);
        for (int directory = 0; directory < directories; directory++) {
            paths.makeDirectory(tree + "/d" + directory, 0755);
            for (int file = 0; file < files; file++) {
                String path = tree + "/d" + directory + "/f" + file;
                paths.write(path, path.getBytes(UTF_8));
            }
        }
    }

    private void same(String tree, int directories, int files) throws FsException {
        for (int directory = 0; directory < directories; directory++) {
            for (int file = 0; file < files; file++) {
                String path = tree + "/d" + directory + "/f" + file;
                for (GlobalFsClient client : new GlobalFsClient[] {west, east}) {
                    assertThat(client.paths(0, 0).read(path)).isEqualTo(path.getBytes(UTF_8));
                }
            }
        }
    }

    private static Map<String, Long> homes(GlobalFsClient client, String path) throws FsException {
        return client.fileSystem().placement(root(), client.paths(0, 0).stat(path).ino());
    }

    private Explanation explanation(GlobalFsClient client, String path) throws FsException {
        return client.fileSystem().explain(root(), client.paths(0, 0).stat(path).ino());
    }

    private static ConditionFactory eventually() {
        return await().atMost(Duration.ofSeconds(100)).pollInterval(Duration.ofMillis(200));
    }

    @Test
    void whatIsMadeWhereARuleIsStaysWhenTheTreeAroundItMovesAtOnce() throws Exception {
        policy("  - path: /home\n" + EAGER + "  - path: /home/own\n    move: off\n");
        oracle(1);
        oracle(2);
        plant("/home", 1, 1);
        eventually()
                .untilAsserted(() -> {
                    assertThat(east.paths(0, 0).read("/home/d0/f0")).isNotEmpty();
                    assertThat(homes(east, "/home")).isEqualTo(Map.of("region2", 3L));
                });
        east.paths(0, 0).makeDirectory("/home/own", 0755);
        eventually()
                .untilAsserted(() -> {
                    for (int i = 0; i < 20; i++) {
                        assertThat(west.paths(0, 0).read("/home/d0/f0")).isNotEmpty();
                    }
                    assertThat(homes(west, "/home/d0")).isEqualTo(Map.of("region1", 2L));
                });
        assertThat(homes(east, "/home/own")).isEqualTo(Map.of("region2", 1L));
    }

    @Test
    void anEagerTreeGoesToWhoeverUsesItAndBack() throws Exception {
        policy("  - path: /\n" + EAGER + "  - path: /home/d1\n    move: off\n");
        oracle(1);
        oracle(2);
        plant("/home", 3, 5);
        eventually()
                .untilAsserted(() -> {
                    for (int i = 0; i < 20; i++) {
                        assertThat(east.paths(0, 0).read("/home/d0/f0")).isNotEmpty();
                    }
                    assertThat(homes(west, "/home"))
                            .isEqualTo(Map.of("region1", 6L, "region2", 13L));
                });
        assertThat(homes(west, "/home/d1")).isEqualTo(Map.of("region1", 6L));
        same("/home", 3, 5);
        eventually()
                .untilAsserted(() -> {
                    for (int i = 0; i < 20; i++) {
                        west.paths(0, 0).write("/home/d2/g", new byte[] {1});
                    }
                    assertThat(homes(east, "/home")).isEqualTo(Map.of("region1", 20L));
                });
        same("/home", 3, 5);
    }

    @Test
    void aPinnedTreeComesUnusedAndAChangedPolicyIsHeard() throws Exception {
        policy("  - path: /\n    move: off\n");
        oracle(1);
        oracle(2);
        plant("/legal", 2, 3);
        plant("/other", 1, 3);
        Explanation before = explanation(west, "/legal/d0");
        assertThat(before.home()).isEqualTo("region1");
        assertThat(before.rule()).isEqualTo("/: off");

        policy("  - path: /legal\n    region: region2\n  - path: /none\n    move: eager\n");
        eventually()
                .untilAsserted(
                        () -> assertThat(homes(west, "/legal")).isEqualTo(Map.of("region2", 9L)));
        assertThat(homes(west, "/other")).isEqualTo(Map.of("region1", 5L));
        Explanation after = explanation(west, "/legal/d0");
        assertThat(after.home()).isEqualTo("region2");
        assertThat(after.rule()).isEqualTo("/legal: region region2");
        assertThat(after.verdict()).isEqualTo("it is to live in region2");

        policy("  - path: /legal\n    reguon: region2\n");
        eventually()
                .untilAsserted(() ->
                        assertThat(explanation(west, "/other").verdict())
                                .contains("its rule lets nothing move")
                                .contains(
                                        "an older policy is in force", "policy.yaml:3", "reguon"));
        same("/legal", 2, 3);
    }

    private void states(GlobalFsClient client, String path, String policy) throws FsException {
        long ino = client.paths(0, 0).stat(path).ino();
        byte[] name = MoveRule.ATTRIBUTE.getBytes(UTF_8);
        if (policy.isEmpty()) {
            client.fileSystem().removeXattr(root(), ino, name);
        } else {
            client.fileSystem().setXattr(root(), ino, name, policy.getBytes(UTF_8), 0);
        }
    }

    @Test
    void whatDirectoriesSayOfThemselvesHolds() throws Exception {
        policy("  - path: /\n    move: off\n  - path: /fixed\n    move: off\n");
        oracle(1);
        oracle(2);
        plant("/home", 3, 5);
        plant("/fixed", 1, 2);
        states(west, "/fixed", "move: eager, residence: 0s");
        states(west, "/home/d1", "move: off");
        states(west, "/home", "move: eager, residence: 0s");
        eventually()
                .untilAsserted(() -> {
                    for (int i = 0; i < 20; i++) {
                        assertThat(east.paths(0, 0).read("/home/d0/f0")).isNotEmpty();
                        assertThat(east.paths(0, 0).read("/fixed/d0/f0")).isNotEmpty();
                    }
                    assertThat(homes(west, "/home"))
                            .isEqualTo(Map.of("region1", 6L, "region2", 13L));
                });
        assertThat(homes(west, "/home/d1")).as("stays with all below").containsOnlyKeys("region1");
        assertThat(homes(west, "/fixed")).as("the file comes first").containsOnlyKeys("region1");
        long home = west.paths(0, 0).stat("/home").ino();
        assertThat(explanation(west, "/home/d0").rule())
                .isEqualTo("user.globalfs.policy of inode " + home + ": eager");

        // Nobody uses it but to say so.
        states(west, "/home", "region: region1");
        eventually()
                .untilAsserted(
                        () -> assertThat(homes(west, "/home")).isEqualTo(Map.of("region1", 19L)));
        states(west, "/home", "");
        eventually()
                .untilAsserted(
                        () -> assertThat(explanation(west, "/home").rule()).isEqualTo("/: off"));
        same("/home", 3, 5);
    }

    @Test
    void onlyRootStatesPoliciesAndInWordsThatAreUnderstood() throws Exception {
        policy("  - path: /\n    move: off\n");
        plant("/home", 1, 1);
        long ino = west.paths(0, 0).stat("/home").ino();
        byte[] name = MoveRule.ATTRIBUTE.getBytes(UTF_8);
        Caller user = Caller.of(1000, 1000, new int[0], System.nanoTime() + 60_000_000_000L);
        assertThat(refused(() -> west.fileSystem().setXattr(user, ino, name, name, 0)))
                .isEqualTo(Errno.EPERM);
        assertThat(refused(() -> states(west, "/home", "move: sometimes"))).isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> states(west, "/home", "region: mars"))).isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> states(west, "/home/d0/f0", "move: off")))
                .isEqualTo(Errno.EOPNOTSUPP);
        states(west, "/home", "move: off");
        assertThat(refused(() -> west.fileSystem().removeXattr(user, ino, name)))
                .isEqualTo(Errno.EPERM);
        assertThat(west.fileSystem().listXattr(root(), ino)).as("is not listed").isEmpty();
        assertThat(east.fileSystem().getXattr(user, ino, name))
                .isEqualTo("move: off".getBytes(UTF_8));
        states(west, "/home", "");
        assertThat(refused(() -> states(west, "/home", ""))).isEqualTo(Errno.ENODATA);
    }

    private static Errno refused(ThrowingCallable call) {
        return catchThrowableOfType(FsException.class, call).errno();
    }

    @Test
    void aBudgetSplitsAMoveAndAnotherOracleGoesOn() throws Exception {
        policy("  - path: /\n    move: eager\n    residence: 0s\n    inodesPerHour: 20\n");
        oracle(1);
        oracle(2);
        plant("/home", 6, 10);
        eventually()
                .untilAsserted(() -> {
                    for (int i = 0; i < 20; i++) {
                        assertThat(east.paths(0, 0).read("/home/d0/f0")).isNotEmpty();
                    }
                    // It may come in several commands.
                    assertThat(homes(west, "/home").getOrDefault("region2", 0L))
                            .isGreaterThanOrEqualTo(20L);
                });
        // An hour's share, and what comes to it meanwhile.
        assertThat(homes(west, "/home").get("region2")).isBetween(20L, 30L);
        same("/home", 6, 10);
        // What comes after it knows nothing of what was spent, and has the rest.
        oracles.remove(2).close();
        policy("  - path: /\n" + EAGER);
        oracle(2);
        eventually()
                .untilAsserted(() -> {
                    for (int directory = 0; directory < 6; directory++) {
                        for (int i = 0; i < 10; i++) {
                            assertThat(east.paths(0, 0).read("/home/d" + directory + "/f" + i))
                                    .isNotEmpty();
                        }
                    }
                    assertThat(homes(west, "/home")).isEqualTo(Map.of("region2", 67L));
                });
        same("/home", 6, 10);
    }

    @Test
    void aTreeThatAllReadBecomesEveryRegionsUntilOneChangesIt() throws Exception {
        policy(
                """
                  - path: /
                    move: threshold
                    global: true
                    reads: 20
                    writes: 20
                    window: 5s
                    hysteresis: 1
                    residence: 0s
                """);
        oracle(1);
        oracle(2);
        plant("/home", 3, 5);
        eventually()
                .untilAsserted(() -> {
                    for (int i = 0; i < 20; i++) {
                        assertThat(west.paths(0, 0).read("/home/d0/f1")).isNotEmpty();
                        assertThat(east.paths(0, 0).read("/home/d0/f0")).isNotEmpty();
                    }
                    assertThat(homes(west, "/home")).isEqualTo(Map.of("global", 19L));
                });
        same("/home", 3, 5);
        eventually()
                .untilAsserted(() -> {
                    for (int i = 0; i < 20; i++) {
                        west.paths(0, 0).write("/home/d2/g", new byte[] {1});
                        assertThat(west.paths(0, 0).read("/home/d0/f1")).isNotEmpty();
                        assertThat(east.paths(0, 0).read("/home/d0/f0")).isNotEmpty();
                    }
                    assertThat(homes(east, "/home/d2")).isEqualTo(Map.of("region1", 7L));
                });
        assertThat(homes(west, "/home"))
                .as("what only west changes, and no more")
                .isEqualTo(Map.of("global", 13L, "region1", 7L));
        same("/home", 3, 5);
    }

    @Test
    void aTreeIsPinnedToAllRegionsAndToOneAgain() throws Exception {
        policy("  - path: /\n    move: off\n  - path: /legal\n    region: global\n");
        oracle(1);
        oracle(2);
        plant("/legal", 2, 3);
        plant("/other", 1, 3);
        eventually()
                .untilAsserted(
                        () -> assertThat(homes(west, "/legal")).isEqualTo(Map.of("global", 9L)));
        assertThat(homes(west, "/other")).isEqualTo(Map.of("region1", 5L));
        Explanation pinned = explanation(east, "/legal/d0");
        assertThat(pinned.home()).isEqualTo("global");
        assertThat(pinned.rule()).isEqualTo("/legal: region global");
        assertThat(pinned.verdict()).isEqualTo("it is to live in global");
        same("/legal", 2, 3);

        policy("  - path: /\n    move: off\n  - path: /legal\n    region: region2\n");
        eventually()
                .untilAsserted(
                        () -> assertThat(homes(west, "/legal")).isEqualTo(Map.of("region2", 9L)));
        assertThat(explanation(west, "/legal/d0").home()).isEqualTo("region2");
        same("/legal", 2, 3);
    }
}
