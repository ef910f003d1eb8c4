package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** {@code globalfs place}: trees move between regions, and to all, while they are in use. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@InSharedCluster
final class MoveIT {
    private static final Duration LIMIT = Duration.ofMinutes(3);

    /** What anybody can see of a tree; directories' own sizes are said by the link count. */
    private static final String LISTING =
            "find . -printf '%P %y %m %U %n %i %s %l\\n' | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum";

    private LocalCluster cluster;
    private Path west;
    private Path east;

    @BeforeAll
    void start(LocalCluster shared) {
        cluster = shared;
        west = cluster.mount("us-west");
        east = cluster.mount("us-east");
    }

    private static String run(Path folder, String script) {
        return Shell.bash(LIMIT, folder, script).orFail();
    }

    private static Shell.Outcome globalfs(String... words) {
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.addAll(Arrays.asList(words));
        return Shell.run(LIMIT, Path.of("/"), command);
    }

    private static Shell.Outcome place(String... words) {
        List<String> all = new ArrayList<>(List.of("place"));
        all.addAll(List.of(words));
        return globalfs(all.toArray(String[]::new));
    }

    @Test
    void aTreeInUseMovesToAnotherRegionAndBack() {
        run(
                west,
                """
                mkdir -p proj/src/deep/er && cd proj
                for i in $(seq 1 200); do head -c $((i * i * 7)) /dev/urandom > src/f$i; done
                for i in $(seq 1 50); do echo $i > src/deep/er/g$i; done
                mkfifo pipe; ln -s src/f1 link; ln src/f2 ../outside; setfattr -n user.a -v b src/f3
                : > log
                """);
        cluster.awaitSeen("proj/log");
        String before = run(west.resolve("proj"), LISTING);
        String append =
                "for i in $(seq 1 300); do echo $i >> log || exit 1; tail -1 log | grep -qx $i || exit 2; done";
        CompletableFuture<Shell.Outcome> work =
                Shell.meanwhile(() -> Shell.bash(LIMIT, west.resolve("proj"), append));

        String told = place("move", east.resolve("proj").toString(), "us-east").orFail();

        work.join().orFail();
        assertThat(told).contains("inodes moved to us-east");
        assertThat(place("show", west.resolve("proj").toString()).orFail())
                .containsPattern("us-east +257\\b")
                .doesNotContain("us-west");
        run(east.resolve("proj"), "[ $(wc -l < log) = 300 ] && : > log");
        for (Path mount : List.of(east, west)) {
            assertThat(run(mount.resolve("proj"), LISTING)).isEqualTo(before);
            run(mount, "getfattr -n user.a proj/src/f3 | grep -q '\"b\"'");
            run(mount, "cmp outside proj/src/f2");
        }
        run(west, "echo more >> outside && tail -1 proj/src/f2 | grep -q more");
        run(east, "mv proj/src/deep proj/deep && rm outside && echo new > proj/deep/new");
        run(
                west,
                "for i in $(seq 100); do [ -e outside ] || break; sleep 0.1; done; [ ! -e outside ] && [ $(stat -c %h proj/src/f2) = 1 ] && cat proj/deep/new");

        place("move", west.resolve("proj").toString(), "us-west").orFail();
        assertThat(place("show", east.resolve("proj").toString()).orFail())
                .containsPattern("us-west +258\\b")
                .doesNotContain("us-east");
        run(east, "rm -r proj");
        run(west, "for i in $(seq 100); do [ -e proj ] || exit 0; sleep 0.1; done; exit 1");
        assertThat(cluster.globalfs(LIMIT, "fsck").orFail()).contains("clean");
    }

    @Test
    void aTreeInUseBecomesEveryRegionsAndOnesAgain() {
        run(
                west,
                """
                mkdir -p atlas/src/deep && cd atlas
                for i in $(seq 1 60); do head -c $((i * i * 70)) /dev/urandom > src/f$i; done
                for i in $(seq 1 20); do echo $i > src/deep/g$i; done
                mkfifo pipe; ln -s src/f1 link; ln src/f2 src/second; setfattr -n user.a -v b src/f3
                : > log
                """);
        cluster.awaitSeen("atlas/log");
        String before = run(west.resolve("atlas"), LISTING);
        String append =
                "for i in $(seq 1 200); do echo $i >> log || exit 1; tail -1 log | grep -qx $i || exit 2; done";
        CompletableFuture<Shell.Outcome> work =
                Shell.meanwhile(() -> Shell.bash(LIMIT, west.resolve("atlas"), append));

        String told = place("move", east.resolve("atlas").toString(), "global").orFail();

        work.join().orFail();
        assertThat(told).contains("86 inodes moved to global");
        assertThat(place("show", west.resolve("atlas").toString()).orFail())
                .containsPattern("(?m)^global +86$");
        run(west.resolve("atlas"), "[ $(wc -l < log) = 200 ] && : > log");
        for (Path mount : List.of(east, west)) {
            await().atMost(LIMIT)
                    .untilAsserted(() ->
                            assertThat(run(mount.resolve("atlas"), LISTING)).isEqualTo(before));
        }
        run(east, "mkdir atlas/made && mv atlas/src/deep atlas/made && echo new > atlas/made/new");
        // Content that other regions hold still keeps its files until it has followed.
        await().atMost(LIMIT)
                .until(() -> place("move", east.resolve("atlas").toString(), "us-east").ok());
        assertThat(place("show", west.resolve("atlas").toString()).orFail())
                .containsPattern("(?m)^us-east +88$");
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        run(
                                west,
                                "cat atlas/made/new atlas/made/deep/g* && [ ! -e atlas/src/deep ]"));
        assertThat(cluster.globalfs(LIMIT, "fsck").orFail()).contains("clean");
        run(east, "rm -r atlas");
    }

    @Test
    void aDirectorySaysThatItsTreeIsEveryRegions() {
        run(west, "mkdir -p shared/deep && seq 100 > shared/deep/f");
        cluster.awaitSeen("shared");
        String tree = west.resolve("shared").toString();
        place("set", tree, "region=global").orFail();
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(place("show", tree).orFail())
                                .containsPattern("(?m)^global +3$"));
        assertThat(place("explain", tree + "/deep").orFail())
                .contains("lives in  global", "of " + tree + ": region global")
                .contains("it is to live in global");
        place("set", tree, "global=true", "reads=5").orFail();
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(place("explain", tree).orFail())
                                .contains("threshold or global (5 reads or 100 writes"));
        place("set", tree, "region=us-east").orFail();
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(place("show", tree).orFail())
                                .containsPattern("(?m)^us-east +3$"));
        assertThat(place("set", tree, "region=global", "global=true").output())
                .contains("global", "remove it");
        run(east, "rm -r shared");
    }

    /** The policy says nothing of other tests' trees. */
    @Test
    void aTreeFollowsItsUsersByItself() throws Exception {
        Path policy = cluster.data().resolve("config/policy.yaml");
        String before = Files.readString(policy);
        try {
            Files.writeString(
                    policy,
                    """
                    rules:
                      - path: /team
                        move: eager
                        residence: 0s
                      - path: /team/here
                        region: us-west
                    """);
            run(
                    west,
                    "mkdir -p team/src/deep team/here; for f in src/1 src/2 src/deep/3 here/4; do seq 100 > team/$f; done");
            String tree = east.resolve("team/src").toString();
            await().atMost(LIMIT)
                    .untilAsserted(() -> {
                        run(east, "cat team/src/[12] > /dev/null && ls -R team > /dev/null");
                        assertThat(place("show", tree).orFail()).containsPattern("us-east +5\\b");
                    });
            assertThat(place("show", east.resolve("team/here").toString()).orFail())
                    .containsPattern("us-west +2\\b")
                    .doesNotContain("us-east");
            for (Path mount : List.of(west, east)) {
                run(mount, "seq 100 | tee >(cmp - team/src/deep/3) | cmp - team/here/4");
            }
            Files.writeString(policy, "rules:\n  - path: team\n");
            await().atMost(LIMIT)
                    .untilAsserted(() ->
                            assertThat(place("explain", tree).orFail())
                                    .contains(
                                            "an older policy is in force",
                                            "policy.yaml:2",
                                            "'team'")
                                    // The other region has read it, too, and may have had it.
                                    .contains("lives in  us-east", "/team: eager"));
        } finally {
            Files.writeString(policy, before);
        }
    }

    @Test
    void aDirectorySaysItselfWhereItsTreeIsToLive() {
        run(west, "mkdir -p stated/deep && seq 100 > stated/deep/f");
        cluster.awaitSeen("stated");
        String tree = west.resolve("stated").toString();
        place("set", tree, "region=us-east").orFail();
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(place("show", tree).orFail())
                                .containsPattern("us-east +3\\b")
                                .doesNotContain("us-west"));
        assertThat(place("explain", tree + "/deep").orFail())
                .contains("user.globalfs.policy of " + tree + ": region us-east");
        run(
                east,
                """
                [ "$(getfattr --only-values -n user.globalfs.policy stated)" = 'region: us-east' ]
                ! getfattr -d stated | grep policy
                cp -a stated copied && ! getfattr -n user.globalfs.policy copied
                setfattr -n user.globalfs.policy -v 'move: eager' copied
                """);
        place("set", tree, "move=threshold", "reads=5", "window=1min").orFail();
        assertThat(place("set", tree, "move=often").output())
                .contains("user.globalfs.policy", "often");
        assertThat(place("set", tree, "region=mars").output())
                .contains("mars", "us-west or global");
        place("clear", tree).orFail();
        assertThat(place("clear", tree).output()).contains("has no policy of its own");
        run(west, "rm -r stated copied");
    }

    @Test
    void whatAQuotaCountsStaysWithItsDirectory() {
        run(west, "mkdir -p limited/tree && echo 1 > limited/tree/f");
        String limited = west.resolve("limited").toString();
        globalfs("quota", "set", limited, "--bytes", "1G").orFail();
        Shell.Outcome outcome = place("move", limited + "/tree", "us-east");
        assertThat(outcome.exitCode()).isEqualTo(1);
        assertThat(outcome.output()).contains("0 inodes moved", "2 had to stay", "quota");
        run(east, "cat limited/tree/f && echo 2 >> limited/tree/f");
        assertThat(place("move", limited, "us-east").orFail()).contains("3 inodes moved");
        assertThat(globalfs("quota", "show", limited + "/tree").orFail()).contains("1.0 GiB");
        globalfs("quota", "clear", limited).orFail();
        assertThat(place("move", limited + "/tree", "us-west").orFail()).contains("2 inodes moved");
        run(west, "[ $(wc -l < limited/tree/f) = 2 ] && rm -r limited");
    }

    @Test
    void wrongWordsGetAnswers() {
        run(west, "mkdir -p words");
        String folder = west.resolve("words").toString();
        assertThat(place("move", folder, "mars").output())
                .contains(
                        "there is no region 'mars'; there are eu-west, us-east, us-west and global");
        assertThat(place("move", folder + "/none", "us-east").output())
                .contains("no such file or directory");
        assertThat(place("show", "/proc").output()).contains("is no mount of GlobalFS");
        assertThat(place("plan", "--policy", "/none.yaml", "/none").output())
                .contains("/none.yaml: no such file");
        assertThat(place().exitCode()).isEqualTo(2);
    }
}
