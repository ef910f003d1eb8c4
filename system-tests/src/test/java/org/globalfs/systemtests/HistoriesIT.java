package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.globalfs.jepsen.FaultyRun;
import org.globalfs.jepsen.GoProgram;
import org.globalfs.jepsen.cluster.Surroundings;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.fault.FaultKind;
import org.globalfs.jepsen.report.Report;
import org.globalfs.jepsen.report.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What clients in all regions were told, while processes are killed and paused and, as root, the
 * network between regions is broken, is what GlobalFS claims: every history is recorded and judged.
 * Operations and faults are others in each run, and so are the workloads, which are half of all.
 * {@code -Dglobalfs.histories.seconds=30} has all of them, longer, and faults that wait for whole
 * content, {@code -Dglobalfs.histories.workloads=append,counter} chooses some, {@code
 * -Dglobalfs.histories.seed=N} repeats the operations and faults of a run.
 */
final class HistoriesIT {
    private static final Path HOME = Path.of("..").toAbsolutePath().normalize();
    private static final Duration AGREE_LIMIT = Duration.ofMinutes(2);
    private static final Path OUTPUT = Path.of("target", "histories").toAbsolutePath();

    private static final int SECONDS = 2;

    @TempDir private Path folder;

    @Test
    void everyHistoryIsAllowed() throws Exception {
        GoProgram.Result built = GoProgram.buildAll(HOME.resolve("jepsen"), folder);
        assumeTrue(
                built.exitCode() == 0,
                "SKIPPED: needs Go 1.19 and its module proxy: " + built.output());
        try (Surroundings around =
                        Surroundings.of(
                                HOME, folder, why -> System.out.println("histories: " + why));
                TestedCluster cluster =
                        new TestedCluster(
                                LocalCluster.launcher(), folder.resolve("data"), around)) {
            around.up();
            cluster.up();
            TestedCluster.remove(OUTPUT);
            record(cluster, Long.getLong("globalfs.histories.seed", System.nanoTime() & 0xffffff));
            assertThat(cluster.difference(AGREE_LIMIT)).isEmpty();
        }
    }

    private static List<String> workloads(long seed) {
        String chosen = System.getProperty("globalfs.histories.workloads", "");
        if (!chosen.isEmpty()) {
            return List.of(chosen.split(",", -1));
        }
        List<String> all = new ArrayList<>(FaultyRun.workloads());
        if (seconds() > SECONDS) {
            return all;
        }
        Collections.shuffle(all, new Random(seed));
        return all.subList(0, (all.size() + 1) / 2);
    }

    private static int seconds() {
        return Integer.getInteger("globalfs.histories.seconds", SECONDS);
    }

    private void record(TestedCluster cluster, long seed) throws IOException {
        System.out.println("histories: seed " + seed);
        FaultyRun.Result result =
                FaultyRun.histories(
                        cluster, folder, settings(cluster.around(), workloads(seed), seed), OUTPUT);
        System.out.print(Report.text(result.verdicts()));
        System.out.println("histories: " + String.join(", ", result.faults()));
        assertThat(result.verdicts()).allMatch(Verdict::valid);
        assertThat(result.faults()).isNotEmpty();
    }

    private static FaultyRun.Settings settings(
            Surroundings around, List<String> workloads, long seed) {
        int seconds = seconds();
        // To make content whole takes longer than such a workload.
        List<FaultKind> kinds =
                FaultKind.possible(around).stream()
                        .filter(kind -> seconds > SECONDS || !kind.wantsWholeContent())
                        .toList();
        return new FaultyRun.Settings(
                workloads, kinds, Duration.ofSeconds(seconds), Duration.ZERO, false, true, seed);
    }
}
