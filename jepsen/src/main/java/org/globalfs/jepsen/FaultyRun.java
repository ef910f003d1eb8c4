package org.globalfs.jepsen;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.fault.FaultKind;
import org.globalfs.jepsen.report.Report;
import org.globalfs.jepsen.report.Verdict;

/** Workloads in all regions of a cluster while it is being broken, and what came of them. */
public final class FaultyRun {
    private static final int CLIENTS = 6;

    private static final Duration AGREE_LIMIT = Duration.ofMinutes(2);

    private FaultyRun() {}

    /**
     * What to do.
     *
     * @param workloads their names, see {@link #workloads}
     * @param faults which kinds; none: nothing is broken
     * @param slice how long one workload runs before the next has its turn
     * @param whole how long all of them have turns; each has at least one
     * @param moves whether trees move between partitions meanwhile
     * @param zookeeper whether ZooKeeper is there meanwhile
     * @param seed operations and faults follow from it, not their times
     */
    public record Settings(
            List<String> workloads,
            List<FaultKind> faults,
            Duration slice,
            Duration whole,
            boolean moves,
            boolean zookeeper,
            long seed) {}

    /**
     * What came of it.
     *
     * @param faults what was done, in order
     * @param difference what is wrong with the cluster in the end, when nothing is broken any more
     */
    public record Result(List<Verdict> verdicts, List<String> faults, Optional<String> difference) {
        /**
         * There is a history, each is valid, the replicas are equal, the tree is whole, and nothing
         * was left of files once they were removed.
         */
        public boolean valid() {
            return !verdicts.isEmpty()
                    && verdicts.stream().allMatch(Verdict::valid)
                    && difference.isEmpty();
        }
    }

    /** The names of all workloads. */
    public static List<String> workloads() {
        return Campaign.names();
    }

    /**
     * Runs it, and removes all files in the end; all faults are over when this returns.
     *
     * @param programs the folder of the programs {@code agent} and {@code check}
     * @param output where histories, drawings, the cluster's logs and {@code report.html} go
     */
    public static Result on(TestedCluster cluster, Path programs, Settings settings, Path output)
            throws IOException {
        if (!settings.zookeeper) {
            cluster.kill(List.of(TestedCluster.ZOOKEEPER));
        }
        Result result = histories(cluster, programs, settings, output);
        if (!settings.zookeeper) {
            cluster.start(List.of(TestedCluster.ZOOKEEPER));
        }
        Optional<String> difference = cluster.difference(AGREE_LIMIT);
        if (difference.isEmpty()) {
            difference = cluster.leaked(folders()).map(FaultyRun::leak);
        }
        return new Result(result.verdicts, result.faults, difference);
    }

    private static String leak(String nodes) {
        return "all files are removed, and storage nodes still have chunks:\n" + nodes;
    }

    /** Where all that workloads make is, with a region that is near. */
    private static Map<String, String> folders() {
        Map<String, String> folders = new TreeMap<>();
        folders.put(at("us-west"), "us-west");
        folders.put(at("us-east"), "us-east");
        folders.put(at(FaultKind.GLOBAL), TestedCluster.REGIONS.getLast());
        return folders;
    }

    /** The same, and nobody looks at the cluster afterwards. */
    public static Result histories(
            TestedCluster cluster, Path programs, Settings settings, Path output)
            throws IOException {
        List<Agent> agents = new ArrayList<>();
        try {
            Files.createDirectories(output);
            makeFolders(cluster);
            for (String region : TestedCluster.REGIONS) {
                Path mount = cluster.mount(region);
                agents.add(Agent.start(programs.resolve("agent"), region, mount));
            }
            Nemesis nemesis = new Nemesis(cluster, settings.faults, settings.moves, settings.seed);
            Campaign campaign =
                    new Campaign(
                            agents,
                            programs.resolve("check"),
                            List.of(at("us-west"), at("us-east")),
                            at(FaultKind.GLOBAL),
                            output,
                            nemesis);
            CompletableFuture<List<Verdict>> verdicts =
                    CompletableFuture.supplyAsync(
                            () -> run(campaign, settings), Thread::startVirtualThread);
            List<String> faults = new ArrayList<>();
            try (TreeMoves moves = settings.moves ? moves(cluster, settings) : null) {
                faults.addAll(nemesis.breakUntil(verdicts));
                if (moves != null) {
                    faults.add(moves.told());
                }
            }
            List<Verdict> all = verdicts.join();
            Files.writeString(output.resolve("report.html"), Report.html(all));
            return new Result(all, faults, Optional.empty());
        } catch (CompletionException e) {
            throw new IOException("the workloads could not be run", e.getCause());
        } finally {
            for (Agent agent : agents) {
                agent.close();
            }
            keepLogs(cluster, output.resolve("log"));
        }
    }

    /**
     * Only what is judged as a folder of the global partition is, by causality and by updates, may
     * come there: the other workloads claim more of reads than holds there, and than holds for who
     * has not heard yet that a folder has left it.
     */
    private static TreeMoves moves(TestedCluster cluster, Settings settings) {
        List<String> regions = TestedCluster.REGIONS;
        List<String> anywhere = new ArrayList<>(regions);
        anywhere.add(FaultKind.GLOBAL);
        Map<String, List<String>> targets = new TreeMap<>();
        targets.put(at("us-west"), regions);
        targets.put(at("us-east"), regions);
        targets.put(at(FaultKind.GLOBAL), anywhere);
        return TreeMoves.begin(cluster, targets, settings.seed);
    }

    private static String at(String partition) {
        return Campaign.AT + partition;
    }

    private static List<Verdict> run(Campaign campaign, Settings settings) {
        try {
            return campaign.run(
                    settings.workloads, CLIENTS, settings.slice, settings.whole, settings.seed);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A folder in two regions' partitions, and one in the global partition, seen everywhere. */
    private static void makeFolders(TestedCluster cluster) throws IOException {
        cluster.inMount(
                "us-west",
                """
                mkdir -p at-us-west
                setfattr -n user.globalfs.placement -v inherit .
                mkdir -p at-global; setfattr -n user.globalfs.placement -v inherit at-global
                setfattr -n user.globalfs.placement -v creator .
                """);
        cluster.inMount("us-east", "mkdir -p at-us-east");
        for (String region : TestedCluster.REGIONS) {
            cluster.inMount(
                    region,
                    "until [ -d at-us-west ] && [ -d at-us-east ] && [ -d at-global ]; do sleep 0.1; done");
        }
    }

    private static void keepLogs(TestedCluster cluster, Path into) throws IOException {
        Files.createDirectories(into);
        try (Stream<Path> logs = Files.list(cluster.folder().resolve("log"))) {
            for (Path log : logs.filter(Files::isRegularFile).toList()) {
                Files.write(into.resolve(log.getFileName()), Files.readAllBytes(log));
            }
        }
    }
}
