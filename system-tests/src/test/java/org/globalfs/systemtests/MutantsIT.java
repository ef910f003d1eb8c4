package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.globalfs.jepsen.FaultyRun;
import org.globalfs.jepsen.GoProgram;
import org.globalfs.jepsen.cluster.Surroundings;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.cluster.WanLab;
import org.globalfs.jepsen.fault.FaultKind;
import org.globalfs.jepsen.report.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A recorded run calls each mutant's histories invalid: a claim that is broken on purpose does not
 * go unnoticed. Each takes some minutes, so this runs only with {@code -Dglobalfs.mutants=all}, or
 * the names of some; that all can be made of today's sources is always tested.
 */
final class MutantsIT {
    private static final Path HOME = Path.of("..").toAbsolutePath().normalize();
    private static final Path OUTPUT = Path.of("target", "mutants").toAbsolutePath();

    /** That of the workloads' first folder. */
    private static final String REGION = "us-west";

    private static final int PAUSE_MS = 1_500;
    private static final Path PROGRAM =
            Path.of(Objects.requireNonNull(System.getProperty("globalfs.jar"), "jar"));

    /** Something that a hunt does to a cluster, again and again. */
    private interface Blow {
        void strike(TestedCluster cluster) throws IOException;
    }

    /**
     * What brings a mutant's fault to light.
     *
     * @param blow done again and again, beside the faults
     * @param apart whether servers need networks of their own
     */
    private record Hunt(
            String workload,
            int seconds,
            Optional<Blow> blow,
            boolean apart,
            List<FaultKind> faults) {

        static Hunt of(String workload, int seconds, FaultKind... faults) {
            return new Hunt(workload, seconds, Optional.empty(), false, List.of(faults));
        }

        static Hunt with(Blow blow, String workload, int seconds) {
            return new Hunt(workload, seconds, Optional.of(blow), false, List.of());
        }

        static Hunt apart(Blow blow, String workload, int seconds) {
            return new Hunt(workload, seconds, Optional.of(blow), true, List.of());
        }

        Surroundings around() {
            return apart
                    ? new Surroundings(
                            Optional.of(
                                    new WanLab(
                                            HOME,
                                            TestedCluster.REGIONS,
                                            TestedCluster.regionsOfServers())),
                            Optional.empty(),
                            Optional.empty())
                    : Surroundings.none();
        }
    }

    private static final Map<String, Hunt> HUNTS =
            Map.of(
                    "stale-strong-read",
                    Hunt.of("register", 10),
                    "rename-in-two-steps",
                    Hunt.of("names", 10),
                    "fsync-before-majority",
                    Hunt.with(MutantsIT::leaveOneAlone, "fsync-set", 60),
                    "retry-applied-twice",
                    Hunt.with(MutantsIT::stopCoordinator, "names", 60),
                    "lease-kept",
                    Hunt.of("register", 80, FaultKind.PAUSE_SERVER),
                    "import-out-of-order",
                    Hunt.of("wandering", 20),
                    "causal-vector-ignored",
                    Hunt.apart(MutantsIT::cutNearest, "comments", 60));

    @TempDir private Path folder;

    static Stream<String> chosen() throws Exception {
        return switch (System.getProperty("globalfs.mutants", "")) {
            case "" -> Stream.empty();
            case "all" -> Mutant.names().stream();
            case String some -> Stream.of(some.split(",", -1));
        };
    }

    @Test
    void everyMutantIsHuntedAndCanBeMade() throws Exception {
        assertThat(Mutant.names()).containsExactlyInAnyOrderElementsOf(HUNTS.keySet());
        for (String name : Mutant.names()) {
            Mutant.read(name).compile(PROGRAM, folder.resolve(name));
        }
    }

    @ParameterizedTest(allowZeroInvocations = true)
    @MethodSource("chosen")
    void isCaught(String name) throws Exception {
        GoProgram.Result built = GoProgram.buildAll(HOME.resolve("jepsen"), folder);
        assumeTrue(
                built.exitCode() == 0,
                "SKIPPED: needs Go 1.19 and its module proxy: " + built.output());
        Hunt hunt = Objects.requireNonNull(HUNTS.get(name), name);
        Optional<String> noLab = hunt.apart ? WanLab.missing() : Optional.empty();
        assumeTrue(noLab.isEmpty(), () -> "SKIPPED: " + noLab.orElseThrow());
        Path jar = Mutant.read(name).build(PROGRAM, folder);
        long seed = Long.getLong("globalfs.histories.seed", System.nanoTime() & 0xffffff);
        System.out.println("mutant " + name + ": seed " + seed);
        Path output = OUTPUT.resolve(name);
        TestedCluster.remove(output);
        try (Surroundings around = hunt.around();
                TestedCluster cluster =
                        new TestedCluster(
                                TestedCluster.program(jar), folder.resolve("data"), around)) {
            around.up();
            cluster.up();
            FaultyRun.Settings settings =
                    new FaultyRun.Settings(
                            List.of(hunt.workload),
                            hunt.faults,
                            Duration.ofSeconds(hunt.seconds),
                            Duration.ZERO,
                            false,
                            true,
                            seed);
            CompletableFuture<Integer> blows =
                    Shell.meanwhile(
                            () -> strike(hunt, cluster, output.resolve(hunt.workload + "-1.edn")));
            FaultyRun.Result result = FaultyRun.histories(cluster, folder, settings, output);
            int struck = blows.join();
            result.verdicts().forEach(verdict -> System.out.println("mutant " + verdict.text()));
            System.out.println(
                    "mutant " + name + ": struck " + struck + " times; " + result.faults());
            // Malformed is one whose operations fail with what they cannot fail with.
            assertThat(result.verdicts().stream().map(Verdict::word))
                    .containsAnyOf("invalid", "malformed");
        }
    }

    /** For as long as the workload runs; returns how often. */
    private static int strike(Hunt hunt, TestedCluster cluster, Path history) {
        if (hunt.blow.isEmpty()) {
            return 0;
        }
        Awaitility.await()
                .atMost(Duration.ofMinutes(3))
                .until(() -> Files.exists(history) && Files.size(history) > 10_000);
        long endNs = System.nanoTime() + Duration.ofSeconds(hunt.seconds).toNanos();
        int times = 0;
        try {
            for (; System.nanoTime() - endNs < 0; times++) {
                hunt.blow.get().strike(cluster);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return times;
    }

    private static String coordinator(TestedCluster cluster, String partition) {
        return Awaitility.await()
                .atMost(Duration.ofMinutes(1))
                .until(() -> cluster.coordinator(partition), Optional::isPresent)
                .orElseThrow();
    }

    private static void letPass(int ms) {
        Awaitility.await()
                .pollDelay(Duration.ofMillis(ms))
                .atMost(Duration.ofMillis(ms).plusMinutes(1))
                .until(() -> true);
    }

    /** Commands that it has passed on, but not answered, come again, to its successor. */
    private static void stopCoordinator(TestedCluster cluster) throws IOException {
        List<String> coordinator = List.of(coordinator(cluster, REGION));
        cluster.pause(coordinator);
        try {
            letPass(PAUSE_MS);
        } finally {
            cluster.resume(coordinator);
        }
    }

    /**
     * The replicas that two regions' mounts ask of the global partition hear nothing of it for a
     * while, but answer.
     */
    private static void cutNearest(TestedCluster cluster) throws IOException {
        WanLab lab = cluster.around().lab().orElseThrow();
        List<String> nearest = List.of("us-west-a", "eu-west-a");
        for (String server : nearest) {
            lab.cutOff(server, othersThan(server));
        }
        try {
            letPass(PAUSE_MS);
        } finally {
            for (String server : nearest) {
                lab.rejoin(server, othersThan(server));
            }
        }
        letPass(PAUSE_MS);
    }

    private static List<String> othersThan(String server) {
        return TestedCluster.allServers().stream().filter(s -> !s.equals(server)).toList();
    }

    /**
     * The coordinator loses the two others, and half a second later dies too; they come back before
     * it does. What it acknowledged in between, only it has.
     */
    private static void leaveOneAlone(TestedCluster cluster) throws IOException {
        String last = coordinator(cluster, REGION);
        List<String> others =
                TestedCluster.servers(REGION).stream().filter(s -> !s.equals(last)).toList();
        String script =
                "kill -9 $(cat run/%s.pid) $(cat run/%s.pid); sleep 0.5; kill -9 $(cat run/%s.pid)"
                        .formatted(others.getFirst(), others.getLast(), last);
        Shell.bash(Duration.ofMinutes(1), cluster.folder(), script).orFail();
        cluster.start(others);
        cluster.start(List.of(last));
    }
}
