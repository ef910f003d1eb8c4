package org.globalfs.bench.placement;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import org.globalfs.bench.BenchFailure;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Simulates move policies. */
@Command(
        name = "placement",
        description = {
            "Simulates three regions that work on 60 projects whose users change, and shows how much",
            "of the work is done in the region where its directory lives: if nothing moves, with the",
            "move policies, and at best. Moves take no time, and reports come at once."
        },
        mixinStandardHelpOptions = true)
public final class PlacementBench implements Runnable {

    private static final int INTERVAL_S = 300;

    @Option(names = "--seed", description = "Of the workload (default: ${DEFAULT-VALUE}).")
    private long seed = 1;

    @Option(
            names = "--minutes",
            description = "Of simulated time, 1 to 600 (default: ${DEFAULT-VALUE}).")
    private int minutes = 60;

    private final PrintStream out = System.out;

    @Override
    public void run() {
        if (minutes < 1 || minutes > 600) {
            throw new BenchFailure("--minutes " + minutes + ": give a number from 1 to 600");
        }
        Comparison comparison = new Comparison(seed, minutes * 60, INTERVAL_S);
        Comparison.Result optimum = comparison.optimum();
        List<Comparison.Result> results =
                List.of(comparison.still(), comparison.threshold(), comparison.eager(), optimum);
        byTime(results);
        totals(results, optimum.total());
    }

    private void byTime(List<Comparison.Result> results) {
        StringBuilder line = new StringBuilder("| minutes |");
        StringBuilder rule = new StringBuilder("|---|");
        for (Comparison.Result result : results) {
            line.append(' ').append(result.name()).append(" |");
            rule.append("---|");
        }
        out.println(line);
        out.println(rule);
        for (int i = 0; i < results.getFirst().share().size(); i++) {
            int from = i * INTERVAL_S / 60;
            StringBuilder row =
                    new StringBuilder(
                            "| "
                                    + from
                                    + " to "
                                    + Math.min(minutes, from + INTERVAL_S / 60)
                                    + " |");
            for (Comparison.Result result : results) {
                row.append(' ').append(percent(result.share().get(i))).append(" |");
            }
            out.println(row);
        }
    }

    private void totals(List<Comparison.Result> results, double optimum) {
        out.println();
        out.println("| | in the region | of the optimum | moves | directories | content moved |");
        out.println("|---|---|---|---|---|---|");
        for (Comparison.Result result : results) {
            boolean moves = result.directories() > 0;
            out.printf(
                    Locale.ROOT,
                    "| %s | %s | %s | %s | %s | %s |%n",
                    result.name(),
                    percent(result.total()),
                    percent(result.total() / optimum),
                    moves ? String.format(Locale.ROOT, "%,d", result.moves()) : "",
                    moves ? String.format(Locale.ROOT, "%,d", result.directories()) : "",
                    moves ? String.format(Locale.ROOT, "%.1f GB", result.bytes() / 1e9) : "");
        }
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }
}
