package org.globalfs.bench.agar;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.globalfs.bench.lab.Wan;

/** What the live benchmark measured, and what follows from it. */
final class LiveTable {
    static final String HEAD =
            "| cache | policy | average ms | some hit | whole hit | fetched MB | packets late |\n"
                    + "|---|---|---|---|---|---|---|";

    private final List<Row> rows = new ArrayList<>();

    /**
     * One policy with one size of cache.
     *
     * @param megabytes of the cache; 0: there is none
     * @param lateMs how late packets were on the latest link of the lab, on average
     */
    record Row(double megabytes, LivePolicy policy, Reading reading, double lateMs) {
        boolean isAgar() {
            return policy.equals(LivePolicy.AGAR);
        }

        boolean isVoid() {
            return lateMs > Wan.LATEST_MS;
        }

        String markdown() {
            return String.format(
                    Locale.ROOT,
                    "| %s | %s | %.1f | %.1f %% | %.1f %% | %.0f | %.2f ms%s%s |",
                    size(megabytes),
                    policy,
                    reading.averageMs(),
                    100 * reading.hitShare(),
                    100.0 * reading.wholeHits() / reading.reads(),
                    reading.fetchedBytes() / 1e6,
                    lateMs,
                    isVoid() ? ": void" : "",
                    remarks());
        }

        private String remarks() {
            String remarks = "";
            if (policy.kind() != null && reading.asked() < reading.reads()) {
                remarks += "; " + (reading.reads() - reading.asked()) + " reads did not ask it";
            }
            if (reading.missed() > 0) {
                remarks += "; it missed " + reading.missed();
            }
            return remarks;
        }
    }

    void add(Row row) {
        rows.add(row);
    }

    /** Rows of runs of the same are one. */
    private List<Row> merged() {
        List<Row> merged = new ArrayList<>();
        for (Row row : rows) {
            int same = 0;
            while (same < merged.size()
                    && !(merged.get(same).megabytes == row.megabytes
                            && merged.get(same).policy.equals(row.policy))) {
                same++;
            }
            if (same == merged.size()) {
                merged.add(row);
            } else {
                Row before = merged.get(same);
                merged.set(
                        same,
                        new Row(
                                row.megabytes,
                                row.policy,
                                before.reading.plus(row.reading),
                                Math.max(before.lateMs, row.lateMs)));
            }
        }
        return merged;
    }

    /**
     * How much sooner Agar's reads end than those of the best other policy: a share. Empty if
     * either is missing, or any that is compared is void.
     */
    Optional<Double> gain(double megabytes) {
        List<Row> sized = merged().stream().filter(row -> row.megabytes == megabytes).toList();
        Optional<Row> agar = sized.stream().filter(Row::isAgar).findFirst();
        Optional<Row> best = bestOther(sized);
        if (agar.isEmpty() || best.isEmpty() || sized.stream().anyMatch(Row::isVoid)) {
            return Optional.empty();
        }
        return Optional.of(1 - agar.get().reading.averageMs() / best.get().reading.averageMs());
    }

    private static Optional<Row> bestOther(List<Row> sized) {
        return sized.stream()
                .filter(row -> !row.policy.equals(LivePolicy.AGAR))
                .min(Comparator.comparingDouble(row -> row.reading.averageMs()));
    }

    /** All rows, and Agar's gain for each size. */
    List<String> lines() {
        List<String> lines = new ArrayList<>(List.of(HEAD));
        List<Row> merged = merged();
        merged.forEach(row -> lines.add(row.markdown()));
        lines.add("");
        merged.stream()
                .filter(Row::isAgar)
                .forEach(agar -> {
                    double megabytes = agar.megabytes;
                    Optional<Row> best =
                            bestOther(
                                    merged.stream()
                                            .filter(row -> row.megabytes == megabytes)
                                            .toList());
                    best.ifPresent(other ->
                            lines.add(
                                    size(megabytes)
                                            + ": "
                                            + gain(megabytes)
                                                    .map(gain ->
                                                            String.format(
                                                                    Locale.ROOT,
                                                                    "Agar gains %.1f %% over %s",
                                                                    100 * gain,
                                                                    other.policy))
                                                    .orElse(
                                                            "no gain is given, as some row is void")));
                });
        return lines;
    }

    static String size(double megabytes) {
        return megabytes == 0 ? "–" : String.format(Locale.ROOT, "%.3g MB", megabytes);
    }
}
