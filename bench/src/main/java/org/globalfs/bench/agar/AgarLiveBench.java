package org.globalfs.bench.agar;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Machine;
import org.globalfs.bench.lab.Workplace;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code globalfs bench agar-live}. */
@Command(
        name = "agar-live",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures what Agar's cache gains in the setting of its paper, with servers and clients"
                    + " in the regions of a WAN lab, beside LRU and LFU with fixed numbers of"
                    + " chunks and no cache.",
            "Root only; run it on an otherwise idle machine."
        })
public final class AgarLiveBench implements Callable<Integer> {
    /** Above it, nodes are further than block clients wait for an answer. */
    private static final double LARGEST_SCALE = 0.2;

    @Option(
            names = "--reads",
            paramLabel = "N",
            description = "Reads that count, of both clients (default 1000).")
    private int reads = Setting.READS;

    @Option(
            names = "--warm-up",
            paramLabel = "N",
            description = "Reads before them (default: as many).")
    private int warmUpReads = -1;

    @Option(
            names = "--cache",
            split = ",",
            paramLabel = "MB",
            description = "Sizes of the cache (default 10,20,50).")
    private List<Double> megabytes = List.of(10.0, 20.0, 50.0);

    @Option(
            names = "--policies",
            split = ",",
            paramLabel = "NAME",
            description =
                    "Of none, agar, and lru, lfu, tiny_lfu with a number of chunks, as lfu-5"
                            + " (default: none, agar, lru and lfu with 1, 3, 5, 7, 9).")
    private List<String> policies = LivePolicy.all().stream().map(LivePolicy::toString).toList();

    @Option(names = "--seed", description = "Of the requests (default 1).")
    private long seed = 1;

    @Option(
            names = "--scale",
            paramLabel = "F",
            description =
                    "Of the paper's latencies and of its period of 30 s, up to 0.2 (default 0.1).")
    private double scale = 0.1;

    @Option(
            names = "--runs",
            paramLabel = "N",
            description = "Of everything, each with the next seed (default 1).")
    private int runs = 1;

    @Option(
            names = "--folder",
            paramLabel = "DIR",
            description =
                    "Where servers keep their data meanwhile (default: the temporary folder).")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"));

    private final PrintStream out = System.out;

    @Override
    public Integer call() {
        check();
        List<LivePolicy> chosen = policies.stream().map(LivePolicy::parse).distinct().toList();
        Path home = Path.of(System.getProperty("globalfs.home", "."));
        LiveServer.build(home);
        try (Workplace workplace = new Workplace(folder.toAbsolutePath(), "bench-agar-");
                LiveCluster cluster = new LiveCluster(home, workplace.folder(), scale)) {
            out.println(Machine.line(workplace.folder()));
            out.printf(
                    "%d runs of %d reads after %d, latencies × %s, seed %d, packets by %s%n%n",
                    runs, reads, warmUp(), scale, seed, cluster.router());
            out.println(String.join("\n", measure(cluster, chosen).lines()));
        }
        return 0;
    }

    private void check() {
        if (reads < 1 || runs < 1) {
            throw new BenchFailure("--reads and --runs are at least 1");
        }
        if (!(scale > 0 && scale <= LARGEST_SCALE)) {
            throw new BenchFailure("--scale is above 0 and up to " + LARGEST_SCALE);
        }
        if (megabytes.stream().anyMatch(size -> !(size >= 1 && size <= 1_000))) {
            throw new BenchFailure("--cache takes 1 to 1000 MB");
        }
        if (!Files.isDirectory(folder)) {
            throw new BenchFailure(folder + " is no folder");
        }
    }

    private int warmUp() {
        return warmUpReads < 0 ? reads : warmUpReads;
    }

    /** Every policy in turn, so that what changes with time concerns all alike. */
    private LiveTable measure(LiveCluster cluster, List<LivePolicy> chosen) {
        LiveTable table = new LiveTable();
        for (int run = 0; run < runs; run++) {
            for (Case each : cases(chosen)) {
                LiveTable.Row row =
                        cluster.measure(each.policy, each.megabytes, seed + run, warmUp(), reads);
                System.err.println(row.markdown());
                table.add(row);
            }
        }
        return table;
    }

    private record Case(double megabytes, LivePolicy policy) {}

    private List<Case> cases(List<LivePolicy> chosen) {
        List<Case> cases = new ArrayList<>();
        if (chosen.contains(LivePolicy.NONE)) {
            cases.add(new Case(0, LivePolicy.NONE));
        }
        for (double size : megabytes) {
            for (LivePolicy policy : chosen) {
                if (!policy.equals(LivePolicy.NONE)) {
                    cases.add(new Case(size, policy));
                }
            }
        }
        return cases;
    }
}
