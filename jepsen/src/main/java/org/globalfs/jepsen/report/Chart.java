package org.globalfs.jepsen.report;

import java.util.ArrayList;
import java.util.Formatter;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import org.globalfs.jepsen.report.RecordedHistory.Broken;
import org.globalfs.jepsen.report.RecordedHistory.Operation;

/**
 * A workload's histories one after the other, drawn as SVG: latency's median and 99th percentile of
 * each second, how many operations were answered in it, and faults as bands behind.
 */
final class Chart {
    private static final int WIDTH = 1000;
    private static final int LEFT = 50;
    private static final int LATENCY_HEIGHT = 140;
    private static final int RATE_TOP = 160;
    private static final int RATE_HEIGHT = 60;
    private static final int HEIGHT = RATE_TOP + RATE_HEIGHT + 20;
    private static final int MOST_BUCKETS = 900;
    private static final double LEAST_MS = 0.1;
    private static final double MOST_MS = 100_000;
    private static final long SECOND_NS = 1_000_000_000L;

    private final List<RecordedHistory> histories;
    private final long wholeNs;
    private final long bucketNs;
    private final TreeMap<Long, List<Long>> latenciesNs = new TreeMap<>();
    private final Formatter svg = new Formatter(new StringBuilder(), Locale.ROOT);

    private Chart(List<RecordedHistory> histories) {
        this.histories = histories;
        this.wholeNs = Math.max(1, histories.stream().mapToLong(RecordedHistory::endNs).sum());
        this.bucketNs = Math.max(SECOND_NS, wholeNs / MOST_BUCKETS);
    }

    static String svg(List<RecordedHistory> histories) {
        return new Chart(histories).draw();
    }

    private String draw() {
        svg.format("<svg viewBox=\"0 0 %d %d\" role=\"img\">%n", WIDTH, HEIGHT);
        List<Double> unknown = new ArrayList<>();
        long beginNs = 0;
        for (RecordedHistory history : histories) {
            for (Broken fault : history.faults()) {
                band(fault, beginNs);
            }
            for (Operation operation : history.operations()) {
                if (operation.isAnswered()) {
                    latenciesNs
                            .computeIfAbsent(
                                    (beginNs + operation.endNs()) / bucketNs,
                                    bucket -> new ArrayList<>())
                            .add(operation.endNs() - operation.beginNs());
                } else {
                    unknown.add(x(beginNs + operation.beginNs()));
                }
            }
            beginNs += history.endNs();
        }
        axes();
        line(50, "p50");
        line(99, "p99");
        rates();
        unknown.forEach(x ->
                svg.format(
                        "<line class=\"info\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"8\"/>%n",
                        x, x));
        return svg.format("</svg>%n").toString();
    }

    private double x(long timeNs) {
        return LEFT + (WIDTH - LEFT) * (double) timeNs / wholeNs;
    }

    private static double y(double ms) {
        double most = Math.log(MOST_MS / LEAST_MS);
        double part = Math.log(Math.clamp(ms, LEAST_MS, MOST_MS) / LEAST_MS) / most;
        return LATENCY_HEIGHT * (1 - part);
    }

    private void band(Broken fault, long beginNs) {
        double from = x(beginNs + fault.beginNs());
        double to = x(beginNs + fault.endNs());
        svg.format(
                "<rect x=\"%.1f\" y=\"0\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>%s %s, %.1f s</title></rect>%n",
                from,
                Math.max(1, to - from),
                RATE_TOP + RATE_HEIGHT,
                color(fault.kind()),
                fault.kind(),
                fault.target().replace(">", "&gt;"),
                (fault.endNs() - fault.beginNs()) / 1e9);
    }

    /** The same for a kind wherever it is drawn. */
    static String color(String kind) {
        return "hsl(%d 70%% 85%%)".formatted(Math.floorMod(kind.hashCode() * 31, 360));
    }

    private void axes() {
        for (double ms = 1; ms <= 10_000; ms *= 10) {
            String label = ms < 1_000 ? "%.0f ms".formatted(ms) : "%.0f s".formatted(ms / 1_000);
            svg.format(
                    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>%n",
                    LEFT, WIDTH, y(ms), y(ms));
            svg.format("<text x=\"0\" y=\"%.1f\">%s</text>%n", y(ms) + 4, label);
        }
        svg.format("<text x=\"%d\" y=\"%d\">0</text>%n", LEFT, HEIGHT - 4);
        svg.format(
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.0f s</text>%n",
                WIDTH, HEIGHT - 4, wholeNs / 1e9);
    }

    private double middle(long bucket) {
        return x(Math.min(wholeNs, bucket * bucketNs + bucketNs / 2));
    }

    private void line(int percent, String style) {
        StringBuilder points = new StringBuilder();
        latenciesNs.forEach((bucket, latencies) ->
                points.append(
                        String.format(
                                Locale.ROOT,
                                "%.1f,%.1f ",
                                middle(bucket),
                                y(Availability.percentile(latencies, percent) / 1e6))));
        svg.format("<polyline class=\"%s\" points=\"%s\"/>%n", style, points.toString().strip());
    }

    private void rates() {
        int most = latenciesNs.values().stream().mapToInt(List::size).max().orElse(1);
        double width = Math.max(0.5, (WIDTH - LEFT) * (double) bucketNs / wholeNs - 0.5);
        latenciesNs.forEach((bucket, latencies) -> {
            double height = RATE_HEIGHT * (double) latencies.size() / most;
            svg.format(
                    "<rect class=\"rate\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>%n",
                    x(bucket * bucketNs), RATE_TOP + RATE_HEIGHT - height, width, height);
        });
        double aSecond = most * (double) SECOND_NS / bucketNs;
        svg.format("<text x=\"0\" y=\"%d\">%.0f/s</text>%n", RATE_TOP + 10, aSecond);
    }
}
