package org.globalfs.bench.agar;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.datastore.cache.policy.AgarPolicy;
import org.globalfs.datastore.cache.policy.FixedChunks.Choice;
import org.globalfs.datastore.cache.policy.HullPlanner;
import org.globalfs.datastore.cache.policy.PublishedPlanner;
import org.globalfs.datastore.cache.policy.RequestMonitor;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Simulates Agar beside simpler caches, and draws the figures of its paper. */
@Command(
        name = "agar",
        description = {
            "Simulates Agar's cache policy beside LRU, LFU and TinyLFU with fixed numbers of chunks,",
            "in the setting of Agar's paper, and draws its figures 5.2 and 5.4 to 5.8 (those of",
            "Frankfurt: the paper does not say how far the others are from Sydney)."
        },
        mixinStandardHelpOptions = true)
public final class AgarBench implements Runnable {
    static final int[] CHUNKS = {1, 3, 5, 7, 9};
    static final double[] MEGABYTES = {5, 10, 20, 50, 100};
    static final double[] SKEWS = {0, 0.2, 0.5, 0.8, 0.9, 1.0, 1.1, 1.4};
    static final double SKEW = 1.1;
    private static final double CACHE_MEGABYTES = 10;

    @ArgGroup(multiplicity = "1")
    private What what = new What();

    @Option(
            names = "--warm-up",
            paramLabel = "READS",
            description = "Reads before those that count (default: ${DEFAULT-VALUE}).")
    private int warmUpReads = 5_000;

    @Option(names = "--seed", description = "Of the requests (default: ${DEFAULT-VALUE}).")
    private long seed = 1;

    private final PrintStream out = System.out;

    /** One of them. */
    private static final class What {
        @Option(
                names = "--figures",
                paramLabel = "DIR",
                description = "Where to put the figures, as SVG.")
        private Path figures = Path.of(".");

        @Option(
                names = "--plan",
                paramLabel = "OBJECTS",
                description = {
                    "Prints instead how long the plan for so many objects takes on this machine,",
                    "five times, and simulates and draws nothing."
                })
        private int planned;
    }

    @Override
    public void run() {
        if (what.planned > 0) {
            PlanningTime.print(new HullPlanner(), what.planned, seed, out);
            return;
        }
        try {
            Files.createDirectories(what.figures);
            cachedChunks();
            policies();
            sizes();
            skews();
            popularity();
            contents();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Every policy that is compared, by name. */
    static Map<String, Simulation.Policies> all() {
        Map<String, Simulation.Policies> all = new LinkedHashMap<>();
        all.put("Agar", Simulation.agar(new HullPlanner()));
        all.put("Agar as published", Simulation.agar(new PublishedPlanner()));
        for (Choice choice : Choice.values()) {
            for (int chunks : CHUNKS) {
                all.put(choice + "-" + chunks, Simulation.fixed(choice, chunks));
            }
        }
        return all;
    }

    private void cachedChunks() throws IOException {
        // A cache that everything fits into.
        Simulation simulation = new Simulation(new Setting(SKEW, 500, 0));
        List<String> groups = new ArrayList<>(List.of("0"));
        List<double[]> values = new ArrayList<>();
        values.add(new double[] {simulation.run(Simulation.NO_CACHE, seed).averageMs()});
        for (int chunks : CHUNKS) {
            groups.add(Integer.toString(chunks));
            values.add(
                    new double[] {
                        simulation.run(Simulation.fixed(Choice.LRU, chunks), seed).averageMs()
                    });
        }
        write(
                "5.2",
                new BarChart(
                        "Reads by cached chunks of each object, all objects fit",
                        "chunks of an object in the cache",
                        "average read, ms",
                        groups,
                        List.of("Frankfurt"),
                        values.toArray(double[][]::new)));
    }

    private void policies() throws IOException {
        Simulation simulation = new Simulation(new Setting(SKEW, CACHE_MEGABYTES, warmUpReads));
        List<String> groups = new ArrayList<>();
        List<double[]> averages = new ArrayList<>();
        List<double[]> hits = new ArrayList<>();
        out.printf("%n10 MB, skew 1.1: average ms, share of reads with a hit%n");
        Map<String, Simulation.Policies> policies = all();
        policies.put("no cache", Simulation.NO_CACHE);
        policies.forEach((name, policy) -> {
            Simulation.Result result = simulation.run(policy, seed);
            out.printf(Locale.ROOT, "%-18s %6.0f  %.2f%n", name, result.averageMs(), result.hits());
            groups.add(
                    name.replace("TINY_LFU", "TL")
                            .replace("Agar as published", "publ.")
                            .replace("no cache", "none"));
            averages.add(new double[] {result.averageMs()});
            hits.add(new double[] {result.hits()});
        });
        write(
                "5.4",
                new BarChart(
                        "Cache of 10 MB, Zipf 1.1",
                        "",
                        "average read, ms",
                        groups,
                        List.of("ms"),
                        averages.toArray(double[][]::new)));
        write(
                "5.5",
                new BarChart(
                        "Cache of 10 MB, Zipf 1.1",
                        "",
                        "reads that find a chunk in the cache",
                        groups,
                        List.of("share"),
                        hits.toArray(double[][]::new)));
    }

    private void sizes() throws IOException {
        List<String> groups = new ArrayList<>();
        List<double[]> values = new ArrayList<>();
        out.printf("%nZipf 1.1, by size of the cache%n");
        for (double megabytes : MEGABYTES) {
            groups.add(String.format(Locale.ROOT, "%.0f MB", megabytes));
            values.add(compare(new Setting(SKEW, megabytes, warmUpReads), groups.getLast()));
        }
        write("5.6a", comparison("By size of the cache, Zipf 1.1", groups, values));
    }

    private void skews() throws IOException {
        List<String> groups = new ArrayList<>();
        List<double[]> values = new ArrayList<>();
        out.printf("%n10 MB, by skew%n");
        for (double skew : SKEWS) {
            groups.add(skew == 0 ? "uniform" : Double.toString(skew));
            values.add(compare(new Setting(skew, CACHE_MEGABYTES, warmUpReads), groups.getLast()));
        }
        write("5.6b", comparison("By skew, cache of 10 MB", groups, values));
    }

    private static BarChart comparison(String title, List<String> groups, List<double[]> values) {
        return new BarChart(
                title,
                "",
                "average read, ms",
                groups,
                List.of("Agar", "best LRU", "best LFU", "best TinyLFU", "no cache"),
                values.toArray(double[][]::new));
    }

    private double[] compare(Setting setting, String name) {
        Comparison comparison = Comparison.of(setting, seed);
        out.printf(Locale.ROOT, "%-8s %s%n", name, comparison);
        return comparison.values();
    }

    private void popularity() throws IOException {
        int[] ranks = {1, 5, 10, 20, 50, 100, 200, 300};
        List<String> groups = new ArrayList<>();
        double[][] values = new double[ranks.length][4];
        double[] skews = {0.5, 0.8, 1.1, 1.4};
        for (int r = 0; r < ranks.length; r++) {
            groups.add(Integer.toString(ranks[r]));
            for (int s = 0; s < skews.length; s++) {
                values[r][s] = new Simulation(new Setting(skews[s], 1, 0)).shareOf(ranks[r]);
            }
        }
        write(
                "5.7",
                new BarChart(
                        "How much of the requests the most popular objects get",
                        "so many objects",
                        "share of requests",
                        groups,
                        List.of("0.5", "0.8", "1.1", "1.4"),
                        values));
    }

    private void contents() throws IOException {
        double[] sizes = {5, 10};
        double[][] values = new double[CHUNKS.length][sizes.length];
        for (int i = 0; i < sizes.length; i++) {
            Setting setting = new Setting(SKEW, sizes[i], warmUpReads);
            AgarPolicy policy =
                    new AgarPolicy(
                            new RequestMonitor(4096, Setting.OBJECTS),
                            new HullPlanner(),
                            Setting.latencies(),
                            Setting.CACHE_MS,
                            setting.capacityBytes(),
                            Setting.OBJECTS);
            var _ = new Simulation(setting).run(policy, seed);
            Map<Integer, Integer> objects = new TreeMap<>();
            policy.plan()
                    .chunks()
                    .values()
                    .forEach(chunks -> objects.merge(Long.bitCount(chunks), 1, Integer::sum));
            for (int c = 0; c < CHUNKS.length; c++) {
                values[c][i] = objects.getOrDefault(CHUNKS[c], 0);
            }
        }
        List<String> groups = new ArrayList<>();
        for (int chunks : CHUNKS) {
            groups.add(chunks + " chunks");
        }
        write(
                "5.8",
                new BarChart(
                        "What Agar keeps, Zipf 1.1",
                        "",
                        "objects",
                        groups,
                        List.of("5 MB", "10 MB"),
                        values));
    }

    private void write(String number, BarChart chart) throws IOException {
        Files.writeString(what.figures.resolve("figure-" + number + ".svg"), chart.svg());
    }
}
