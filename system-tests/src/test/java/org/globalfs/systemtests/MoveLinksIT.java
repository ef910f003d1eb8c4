package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.globalfs.jepsen.cluster.Surroundings;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.cluster.WanLab;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Links between regions carry nothing for a while in the middle of a move: who is not cut off goes
 * on, in the tree as soon as what a command of the move holds is free again, what was acknowledged
 * is there, nothing stays locked, and asking again does the rest. {@code -Dglobalfs.links.seed=N}
 * repeats the moments of a run, as far as a machine can.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class MoveLinksIT {
    private static final Path HOME = Path.of("..").toAbsolutePath().normalize();
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final String WEST = "us-west";
    private static final String EAST = "us-east";
    private static final String EU = "eu-west";

    /** The shortest that a mount can have. */
    private static final Duration LEASE = Duration.ofSeconds(3);

    /** Others are elected, and a region takes part in ring 0 no more. */
    private static final int CUT_MS = 3_000;

    /** Mounts' leases run out as well. */
    private static final int LONG_CUT_MS = 6_000;

    /** A move has several commands: one takes at most 1 MiB of records along. */
    private static final String TREE =
            """
            mkdir -p proj/src/deep proj/in && cd proj
            head -c 4000000 /dev/urandom | split -a 3 -b 16000 - src/f
            head -c 10000000 /dev/urandom | split -a 3 -b 200000 - src/deep/g
            mkfifo pipe; ln -s src/faaa link; ln src/faab ../outside
            : > in/log
            sync .
            """;

    /** All but what is written meanwhile. */
    private static final String LISTING =
            """
            find . -path ./in -prune -o -printf '%P %y %m %U %n %i %s %l\\n' | sort
            find . -path ./in -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
            """;

    /** Each line and file that is acknowledged, and only those, is told. */
    private static final String WRITE =
            """
            for i in $(seq 1 100000); do
              [ ! -e "$1/stop" ] || exit 0
              echo "$2 $i" >> proj/in/log || exit 1
              sync proj/in/log || exit 2
              echo "$2 $i" >> "$1/lines"
              echo "$2 $i" > "proj/in/$2-$i" || exit 3
              sync "proj/in/$2-$i" || exit 4
              echo "$2-$i" >> "$1/files"
            done
            """;

    private static final String FILES =
            """
            while read -r name; do
              [ "$(< "$name")" = "${name%%-*} ${name##*-}" ] || { echo "$name is not there"; exit 1; }
            done < '%s'
            """;

    /** Between two regions. */
    private record Link(String one, String other) {}

    private Path folder = Path.of("none");
    private final long seed = Long.getLong("globalfs.links.seed", System.nanoTime() & 0xffffff);
    private final Random random = new Random(seed);
    private Surroundings around = Surroundings.none();
    private TestedCluster cluster = new TestedCluster(List.of(), Path.of("none"), around);
    private Path scratch = Path.of("none");
    private String before = "";
    private int round;

    @BeforeAll
    void start() throws IOException {
        Optional<String> missing = WanLab.missing();
        assumeTrue(missing.isEmpty(), () -> "SKIPPED: " + missing.orElseThrow());
        System.out.println("links: seed " + seed);
        WanLab lab = new WanLab(HOME, TestedCluster.REGIONS, TestedCluster.regionsOfServers());
        around = new Surroundings(Optional.of(lab), Optional.empty(), Optional.empty());
        folder = Files.createTempDirectory("globalfs-links-");
        scratch = Files.createDirectory(folder.resolve("scratch"));
        cluster = new TestedCluster(LocalCluster.launcher(), folder.resolve("data"), around);
        around.up();
        cluster.configure();
        cluster.shortenLeases(LEASE);
        cluster.start(TestedCluster.everything());
        run(WEST, TREE);
        before = run(WEST, "cd proj\n" + LISTING);
        for (String region : TestedCluster.REGIONS) {
            run(region, "mkdir " + ownFolder(region));
        }
    }

    @AfterAll
    void stop() throws IOException {
        try {
            cluster.close();
            TestedCluster.remove(folder);
        } finally {
            around.close();
        }
    }

    private String run(String region, String script) {
        return Shell.bash(LIMIT, cluster.mount(region), script).orFail();
    }

    /** What lives in a region and has nothing to do with the tree. */
    private static String ownFolder(String region) {
        return "of-" + region;
    }

    private Shell.Outcome place(String verb, String region, String... more) {
        List<String> command = new ArrayList<>(LocalCluster.launcher());
        command.addAll(List.of("place", verb, cluster.mount(region).resolve("proj").toString()));
        command.addAll(List.of(more));
        return Shell.run(LIMIT, Path.of("/"), command);
    }

    @Test
    @Order(1)
    void sourceAndDestinationAreCutApart() throws Exception {
        round(WEST, EAST, EU, List.of(EU), CUT_MS, new Link(WEST, EAST));
    }

    @EnabledIfSystemProperty(named = "globalfs.links", matches = "all")
    @Test
    @Order(2)
    void sourceAndTheThirdAreCutApart() throws Exception {
        round(EAST, WEST, WEST, List.of(WEST), CUT_MS, new Link(EAST, EU));
    }

    @EnabledIfSystemProperty(named = "globalfs.links", matches = "all")
    @Test
    @Order(3)
    void theMountThatAsksIsCutOff() throws Exception {
        round(WEST, EAST, EU, List.of(WEST, EAST), CUT_MS, new Link(EU, WEST), new Link(EU, EAST));
    }

    @Test
    @Order(4)
    void theDestinationIsCutOffForLongerThanALease() throws Exception {
        round(
                EAST,
                WEST,
                WEST,
                List.of(EAST, EU),
                LONG_CUT_MS,
                new Link(WEST, EAST),
                new Link(WEST, EU));
    }

    /**
     * @param asker whose mount is told to move the tree
     * @param spared regions where nothing fails meanwhile
     * @param links carry nothing from somewhere between the first question and the last block that
     *     follows
     */
    private void round(
            String from, String to, String asker, List<String> spared, int cutMs, Link... links)
            throws Exception {
        int delayMs = 400 + random.nextInt(1_600);
        System.out.printf(
                "links: %s to %s by %s, %s after %d ms%n",
                from, to, asker, List.of(links), delayMs);
        Map<String, CompletableFuture<Shell.Outcome>> writers = new HashMap<>();
        round++;
        for (String region : TestedCluster.REGIONS) {
            writers.put(region, Shell.meanwhile(() -> write(region)));
        }
        CompletableFuture<Shell.Outcome> move = Shell.meanwhile(() -> place("move", asker, to));
        WanLab lab = around.lab().orElseThrow();
        pass(delayMs);
        int already = acknowledged("lines").size();
        for (Link link : links) {
            lab.cut(link.one, link.other);
            lab.cut(link.other, link.one);
        }
        for (String region : spared) {
            run(region, "cd " + ownFolder(region) + " && echo > f && sync f && rm f");
        }
        pass(cutMs);
        int meanwhile = acknowledged("lines").size();
        boolean over = move.isDone();
        lab.heal();
        System.out.printf(
                "links: %d records before, %d meanwhile, the move was %s%n%s%n",
                already,
                meanwhile - already,
                over ? "over" : "under way",
                move.join().output().strip());
        await().atMost(LIMIT).untilAsserted(() -> place("move", asker, to).orFail());
        Files.writeString(scratch.resolve("stop"), "");
        for (Map.Entry<String, CompletableFuture<Shell.Outcome>> each : writers.entrySet()) {
            Shell.Outcome outcome = each.getValue().join();
            if (spared.contains(each.getKey())) {
                outcome.orFail();
            }
        }
        Files.delete(scratch.resolve("stop"));
        assertThat(place("show", asker).orFail()).contains(to).doesNotContain(from);
        check(to);
    }

    private static void pass(int ms) {
        Shell.bash(LIMIT, Path.of("/"), "sleep " + ms / 1e3).orFail();
    }

    private Shell.Outcome write(String region) {
        return Shell.run(
                LIMIT,
                cluster.mount(region),
                List.of("bash", "-c", WRITE, "write", scratch.toString(), region + round));
    }

    private void check(String to) throws IOException {
        for (String region : TestedCluster.REGIONS) {
            assertThat(run(region, "cd proj\n" + LISTING)).as(region).isEqualTo(before);
            run(
                    region,
                    """
                    cmp outside proj/src/faab
                    flock -n proj/src/faaa true
                    flock -n proj true
                    echo > proj/in/new && mv proj/in/new proj/src/moved
                    mkdir proj/src/made && mv proj/src/moved proj/src/made && rm -r proj/src/made
                    """);
            assertThat(run(region, "cat proj/in/log").lines())
                    .as(region)
                    .containsAll(acknowledged("lines"));
        }
        // From far away each would take a round trip.
        run(to, "cd proj/in\n" + FILES.formatted(scratch.resolve("files")));
        assertThat(cluster.difference(LIMIT)).isEmpty();
    }

    private List<String> acknowledged(String what) throws IOException {
        Path file = scratch.resolve(what);
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }
}
