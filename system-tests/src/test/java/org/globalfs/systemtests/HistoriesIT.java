package org.globalfs.systemtests;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.globalfs.jepsen.Agent;
import org.globalfs.jepsen.Campaign;
import org.globalfs.jepsen.GoProgram;
import org.globalfs.jepsen.Nemesis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What clients in all regions were told, while processes are killed and paused, is what GlobalFS
 * claims: every history is recorded and judged. {@code -Dglobalfs.histories.seconds=60} makes each
 * workload longer, {@code -Dglobalfs.histories.workloads=append,counter} chooses some, {@code
 * -Dglobalfs.histories.seed=N} repeats the operations of a run.
 */
final class HistoriesIT {
    private static final Path SOURCES = Path.of("..", "jepsen").toAbsolutePath().normalize();
    private static final int CLIENTS = 6;

    /**
     * Not always valid, see {@code jepsen/README.md}: a reader of an appender's own mount can see a
     * record where the appender believed the end to be, before it is committed.
     */
    private static final Set<String> KNOWN = Set.of("append");

    private static final int BETWEEN_FAULTS_MS = 1_000;

    @TempDir private Path folder;

    @Test
    void everyHistoryIsAllowed() throws Exception {
        for (String program : List.of("agent", "check")) {
            GoProgram.Result built = GoProgram.build(SOURCES, program, folder);
            assumeTrue(
                    built.exitCode() == 0,
                    "SKIPPED: needs Go 1.19 and its module proxy: " + built.output());
        }
        long seed = Long.getLong("globalfs.histories.seed", System.nanoTime() & 0xffffff);
        Duration time = Duration.ofSeconds(Integer.getInteger("globalfs.histories.seconds", 6));
        String chosen = System.getProperty("globalfs.histories.workloads", "");
        List<String> workloads =
                chosen.isEmpty()
                        ? Campaign.names().stream().filter(name -> !KNOWN.contains(name)).toList()
                        : List.of(chosen.split(",", -1));
        System.out.println("histories: seed " + seed);
        List<Agent> agents = new ArrayList<>();
        try (LocalCluster cluster = LocalCluster.start("histories")) {
            makeFolders(cluster);
            for (String region : LocalCluster.REGIONS) {
                agents.add(Agent.start(folder.resolve("agent"), cluster.mount(region)));
            }
            Nemesis nemesis = new Nemesis();
            Campaign campaign =
                    new Campaign(
                            agents,
                            folder.resolve("check"),
                            List.of("at-us-west", "at-us-east"),
                            "at-global",
                            Path.of("target", "histories").toAbsolutePath(),
                            nemesis);
            CompletableFuture<List<Campaign.Verdict>> verdicts =
                    Shell.meanwhile(() -> run(campaign, workloads, time, seed));
            int faults = breakUntil(verdicts, cluster, nemesis, new Random(seed));
            List<Campaign.Verdict> all = verdicts.join();
            all.forEach(verdict -> System.out.println("histories: " + verdict.text()));
            System.out.println("histories: " + faults + " faults");
            assertThat(all).allMatch(Campaign.Verdict::valid);
            cluster.awaitEqualHashes(Duration.ofMinutes(2));
        } finally {
            for (Agent agent : agents) {
                agent.close();
            }
        }
    }

    private static List<Campaign.Verdict> run(
            Campaign campaign, List<String> workloads, Duration time, long seed) {
        try {
            return campaign.run(workloads, CLIENTS, time, seed);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** A folder in two regions' partitions, and one in the global partition, seen everywhere. */
    private static void makeFolders(LocalCluster cluster) {
        String west =
                """
                mkdir at-us-west
                setfattr -n user.globalfs.placement -v inherit .
                mkdir at-global; setfattr -n user.globalfs.placement -v inherit at-global
                setfattr -n user.globalfs.placement -v creator .
                """;
        Duration minute = Duration.ofMinutes(1);
        Shell.bash(minute, cluster.mount("us-west"), west).orFail();
        Shell.bash(minute, cluster.mount("us-east"), "mkdir at-us-east").orFail();
        String all =
                "until [ -d at-us-west ] && [ -d at-us-east ] && [ -d at-global ]; do sleep 0.1; done";
        for (String region : LocalCluster.REGIONS) {
            Shell.bash(minute, cluster.mount(region), all).orFail();
        }
    }

    /**
     * One process at a time is killed and started again, or stands still for longer than a lease.
     */
    private static int breakUntil(
            CompletableFuture<?> end, LocalCluster cluster, Nemesis nemesis, Random random)
            throws InterruptedException {
        int faults = 0;
        while (!ends(end)) {
            String region = LocalCluster.REGIONS.get(random.nextInt(LocalCluster.REGIONS.size()));
            String process =
                    random.nextInt(6) == 0
                            ? "mount-" + region
                            : region + "-" + "abc".charAt(random.nextInt(3));
            if (random.nextInt(3) == 0) {
                nemesis.note("pause", process);
                Shell.bash(
                                Duration.ofMinutes(1),
                                cluster.data(),
                                "p=$(cat run/%s.pid); kill -STOP $p; sleep 1.2; kill -CONT $p"
                                        .formatted(process))
                        .orFail();
            } else {
                nemesis.note("kill", process);
                cluster.kill(process);
                cluster.restart(process);
            }
            nemesis.note("healed", process);
            faults++;
        }
        return faults;
    }

    private static boolean ends(CompletableFuture<?> end) throws InterruptedException {
        try {
            end.get(BETWEEN_FAULTS_MS, TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (java.util.concurrent.ExecutionException e) {
            return true;
        }
    }
}
