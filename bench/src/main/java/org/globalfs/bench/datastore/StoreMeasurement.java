package org.globalfs.bench.datastore;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.globalfs.bench.lab.Figure;
import org.jspecify.annotations.Nullable;

/** How fast blocks are put, got from disks, and got from a cache. */
final class StoreMeasurement implements Session.Measurement {
    private static final int[] CLIENTS = {1, 4};

    /** Four of six chunks that are written are the content. */
    private static final double GOAL = 0.6 / 1.5;

    private static final Line.Goal OF_RAW =
            Line.Goal.ratio(GOAL, "≥ 0.40 × raw (60 % of raw / 1.5)");

    @Override
    public String name() {
        return "store";
    }

    @Override
    public List<Line> run(Session session) {
        Map<String, List<Double>> rates = new LinkedHashMap<>();
        List<Double> raw = new ArrayList<>();
        try (StoreCluster cluster = new StoreCluster(session.folder(), false, true)) {
            warmUp(cluster, session);
            for (int round = 0; round < session.rounds(); round++) {
                raw.add(RawDisk.megabytesPerSecond(session.folder(), session.seconds()));
                for (int clients : CLIENTS) {
                    round(cluster, session, clients, rates);
                }
            }
        }
        Figure disk = new Figure(" MB/s (raw)", raw);
        List<Line> lines = new ArrayList<>();
        rates.forEach((what, megabytes) -> {
            boolean cached = what.startsWith("get, cached");
            lines.add(
                    new Line(
                            what,
                            new Figure(" MB/s", megabytes),
                            cached ? null : disk,
                            goal(what, cached)));
        });
        return lines;
    }

    private static Line.@Nullable Goal goal(String what, boolean cached) {
        if (cached) {
            return Line.Goal.figure(1_500, "≥ 1,500 MB/s");
        }
        return what.contains("from memory") ? null : OF_RAW;
    }

    /** Java compiles all of it first. */
    private static void warmUp(StoreCluster cluster, Session session) {
        double seconds = session.quick() ? session.seconds() : 2 * session.seconds();
        for (int clients : CLIENTS) {
            String _ = cluster.ask("put %d %s".formatted(clients, seconds));
            String _ = cluster.ask("get " + clients);
            String _ = cluster.ask("cached %d %s".formatted(clients, seconds));
        }
        String _ = cluster.ask("delete");
    }

    private static void round(
            StoreCluster cluster, Session session, int clients, Map<String, List<Double>> rates) {
        String whose = clients + (clients == 1 ? " client" : " clients");
        note(
                rates,
                "put, " + whose,
                cluster.ask("put %d %s".formatted(clients, session.seconds())));
        cluster.forget();
        note(rates, "get, from disk, " + whose, cluster.ask("get " + clients));
        note(rates, "get, from memory, " + whose, cluster.ask("get " + clients));
        note(
                rates,
                "get, cached, " + whose,
                cluster.ask("cached %d %s".formatted(clients, session.seconds())));
        String _ = cluster.ask("delete");
    }

    private static void note(Map<String, List<Double>> rates, String what, String answer) {
        double rate = Transfer.parse(answer).megabytesPerSecond();
        System.err.printf("%s: %.0f MB/s%n", what, rate);
        rates.computeIfAbsent(what, w -> new ArrayList<>()).add(rate);
    }
}
