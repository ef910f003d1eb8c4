package org.globalfs.bench.multicast;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.globalfs.bench.lab.Figure;
import org.globalfs.bench.lab.MemberProcess;
import org.globalfs.bench.lab.Pause;
import org.globalfs.bench.multicast.Cluster.Shape;
import org.jspecify.annotations.Nullable;

/**
 * A steady load at the coordinator's process, of two contenders in turn. The clusters of both run
 * throughout and are warmed up alike.
 */
final class LoadMeasurement implements Session.Measurement {
    /** With less, nobody expects anything to be warm. */
    private static final int LEAST_WARM_UP_MS = 30_000;

    private static final int WARM_UP_PARTS = 6;

    /** So many times the warm-up asked for, at most. */
    private static final int MOST_WARM_UPS = 5;

    private static final double RISE = 1.05;

    /** What a row shows of the rounds. */
    enum Shows {
        RATE,
        LATENCY,
        BYTES,
        SPREAD
    }

    private final String name;
    private final String title;
    private final boolean durable;
    private final int outstanding;
    private final int sizeBytes;
    private final Shows shows;
    private final Contender ours;
    private final @Nullable Contender peer;

    LoadMeasurement(
            String name,
            String title,
            boolean durable,
            int outstanding,
            int sizeBytes,
            Shows shows,
            Contender ours,
            @Nullable Contender peer) {
        this.name = name;
        this.title = title;
        this.durable = durable;
        this.outstanding = outstanding;
        this.sizeBytes = sizeBytes;
        this.shows = shows;
        this.ours = ours;
        this.peer = peer;
    }

    /** One round's answers of the process that carries the load. */
    private record Round(Sample load, Sample before, Sample after) {
        double seconds() {
            return load.get("elapsedNs") / 1e9;
        }

        double rate() {
            return load.get("acknowledged") / seconds();
        }

        double youngCollectionsPerSecond() {
            return after.since(before, "youngCollections") / seconds();
        }

        double cpuUsPerValue() {
            return after.since(before, "cpuNs") / 1e3 / Math.max(1, load.get("acknowledged"));
        }

        double allocatedPerValue() {
            return (double) after.since(before, "allocatedBytes")
                    / Math.max(1, load.get("acknowledged"));
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public List<Row> run(Session session) {
        List<Contender> contenders = new ArrayList<>(List.of(ours));
        if (peer != null && (session.peers() || peer.isOurs())) {
            contenders.add(peer);
        }
        List<Cluster> clusters = new ArrayList<>();
        try {
            List<List<Round>> rounds = new ArrayList<>();
            for (Contender contender : contenders) {
                Cluster cluster =
                        Cluster.start(
                                contender,
                                new Shape(durable, 1, false),
                                session.place(),
                                session.folder());
                clusters.add(cluster);
                rounds.add(new ArrayList<>());
                session.progress(contender.title() + ": warming up");
                warmUp(cluster, session);
            }
            for (int number = 1; number <= session.rounds(); number++) {
                for (int i = 0; i < clusters.size(); i++) {
                    Round round = round(clusters.get(i), session, session.roundMs());
                    rounds.get(i).add(round);
                    session.progress(
                            "%s: round %d: %,.0f/s, p50 %,d us"
                                    .formatted(
                                            contenders.get(i).title(),
                                            number,
                                            round.rate(),
                                            round.load().get("p50Ns") / 1000));
                }
            }
            return rows(rounds.getFirst(), rounds.size() > 1 ? rounds.get(1) : null);
        } finally {
            clusters.forEach(Cluster::close);
        }
    }

    /**
     * Until the rate stands still: some need minutes, and as long as they do, their figures say
     * more of the compiler than of them.
     */
    private void warmUp(Cluster cluster, Session session) {
        if (session.warmUpMs() < LEAST_WARM_UP_MS) {
            round(cluster, session, session.warmUpMs());
            return;
        }
        List<Double> rates = new ArrayList<>();
        do {
            rates.add(round(cluster, session, session.warmUpMs() / WARM_UP_PARTS).rate());
        } while (rates.size() < MOST_WARM_UPS * WARM_UP_PARTS && rises(rates));
        session.progress(
                "warm after %d s: %,.0f/s"
                        .formatted(
                                rates.size() * session.warmUpMs() / WARM_UP_PARTS / 1000,
                                rates.getLast()));
    }

    private static boolean rises(List<Double> rates) {
        int half = WARM_UP_PARTS / 2;
        int now = rates.size();
        return now < WARM_UP_PARTS
                || sum(rates.subList(now - half, now))
                        > RISE * sum(rates.subList(now - 2 * half, now - half));
    }

    private static double sum(List<Double> rates) {
        return rates.stream().mapToDouble(Double::doubleValue).sum();
    }

    private Round round(Cluster cluster, Session session, int lengthMs) {
        MemberProcess driver = cluster.member(cluster.awaitCoordinator());
        int retryMs = Math.max(5_000, session.place().retryMs()); // a stall is a figure, not a loss
        driver.ask("start " + outstanding + " " + sizeBytes + " " + retryMs + " quiet");
        Pause.ofMs(Math.min(500, lengthMs / 4));
        Sample before = Sample.parse(driver.ask("usage"));
        driver.ask("mark");
        Pause.ofMs(lengthMs);
        Sample load = Sample.parse(driver.ask("measured"));
        Sample after = Sample.parse(driver.ask("usage"));
        driver.ask("stop");
        return new Round(load, before, after);
    }

    private List<Row> rows(List<Round> ours, @Nullable List<Round> peers) {
        return switch (shows) {
            case RATE ->
                    List.of(
                            higher(title, "/s", ours, peers, Round::rate),
                            lower(title + ", p50", " ms", ours, peers, ms("p50Ns")),
                            lower(
                                    "… young collections a second there",
                                    "",
                                    ours,
                                    null,
                                    Round::youngCollectionsPerSecond),
                            lower(
                                    "… allocated a command there, the command included",
                                    " bytes",
                                    ours,
                                    null,
                                    Round::allocatedPerValue));
            case LATENCY ->
                    List.of(
                            lower(title + ", p50", " ms", ours, peers, ms("p50Ns")),
                            lower(title + ", p99", " ms", ours, peers, ms("p99Ns")));
            case BYTES ->
                    List.of(
                            higher(
                                    title,
                                    " MB/s",
                                    ours,
                                    peers,
                                    round -> round.rate() * sizeBytes / 1e6));
            case SPREAD ->
                    List.of(
                            higher(title, "/s", ours, peers, Round::rate),
                            higher(
                                    "…",
                                    " MB/s",
                                    ours,
                                    peers,
                                    round -> round.rate() * sizeBytes / 1e6),
                            lower("… p50", " ms", ours, peers, ms("p50Ns")),
                            lower("… p99", " ms", ours, peers, ms("p99Ns")),
                            lower(
                                    "… coordinator's processor time a value",
                                    " µs",
                                    ours,
                                    peers,
                                    Round::cpuUsPerValue));
        };
    }

    private static ToDoubleFunction<Round> ms(String figure) {
        return round -> round.load().get(figure) / 1e6;
    }

    private static Row higher(
            String what,
            String unit,
            List<Round> ours,
            @Nullable List<Round> peers,
            ToDoubleFunction<Round> of) {
        return Row.higher(
                what, figure(unit, ours, of), peers == null ? null : figure(unit, peers, of));
    }

    private static Row lower(
            String what,
            String unit,
            List<Round> ours,
            @Nullable List<Round> peers,
            ToDoubleFunction<Round> of) {
        return Row.lower(
                what, figure(unit, ours, of), peers == null ? null : figure(unit, peers, of));
    }

    private static Figure figure(String unit, List<Round> rounds, ToDoubleFunction<Round> of) {
        return new Figure(unit, rounds.stream().map(of::applyAsDouble).toList());
    }
}
