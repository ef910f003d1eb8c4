package org.globalfs.bench.datastore;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.globalfs.bench.lab.Figure;

/** How long reads take while one node of six has a slow disk, beside how long they take else. */
final class SlowNodeMeasurement implements Session.Measurement {
    private static final long SLOWER_MS = 50;
    private static final long FILL_BYTES = 256 << 20;
    private static final int RANGE_BYTES = 64 << 10;
    private static final Line.Goal GOAL =
            Line.Goal.ratio(0.5, "≥ 0.50: the slow one's p99 within 2 ×");

    @Override
    public String name() {
        return "slow-node";
    }

    @Override
    public List<Line> run(Session session) {
        Map<String, List<Double>> usual = new LinkedHashMap<>();
        Map<String, List<Double>> slow = new LinkedHashMap<>();
        try (StoreCluster cluster = new StoreCluster(session.folder(), false, false)) {
            String _ = cluster.ask("fill " + FILL_BYTES);
            round(cluster, session, new LinkedHashMap<>()); // Java compiles all of it first
            for (int round = 0; round < session.rounds(); round++) {
                round(cluster, session, usual);
                cluster.slowOne(SLOWER_MS);
                round(cluster, session, slow);
                cluster.slowOne(0);
            }
        }
        List<Line> lines = new ArrayList<>();
        usual.forEach((what, ms) ->
                lines.add(
                        new Line(
                                what,
                                new Figure(" ms", ms),
                                new Figure(
                                        " ms (a disk of six %d ms slower)".formatted(SLOWER_MS),
                                        slow.getOrDefault(what, List.of())),
                                what.endsWith("p99") ? GOAL : null)));
        return lines;
    }

    private static void round(
            StoreCluster cluster, Session session, Map<String, List<Double>> times) {
        for (int bytes : new int[] {RANGE_BYTES, Setup.BLOCK_BYTES}) {
            String[] quantiles =
                    cluster.ask("latency %d %s".formatted(bytes, session.seconds())).split(" ");
            note(times, "get of %d KiB, p50".formatted(bytes >> 10), quantiles[0]);
            note(times, "get of %d KiB, p99".formatted(bytes >> 10), quantiles[1]);
        }
    }

    private static void note(Map<String, List<Double>> times, String what, String ns) {
        double ms = Long.parseLong(ns) / (double) TimeUnit.MILLISECONDS.toNanos(1);
        System.err.printf("%s: %.2f ms%n", what, ms);
        times.computeIfAbsent(what, w -> new ArrayList<>()).add(ms);
    }
}
