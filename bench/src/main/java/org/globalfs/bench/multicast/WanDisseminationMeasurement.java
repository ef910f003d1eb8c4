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
 * Star and ring between regions, with the coordinator in the middle: what a commit takes where it
 * was proposed, and how much goes through.
 */
final class WanDisseminationMeasurement implements Session.Measurement {
    /** A stall is a figure, not a loss. */
    private static final int RETRY_MS = 5_000;

    private final WanLab lab;

    WanDisseminationMeasurement(WanLab lab) {
        this.lab = lab;
    }

    @Override
    public String name() {
        return DisseminationMeasurement.NAME;
    }

    @Override
    public String head() {
        return DisseminationMeasurement.HEAD;
    }

    @Override
    public List<Row> run(Session session) {
        int middle = lab.middle();
        List<Row> rows = new ArrayList<>();
        try (Cluster star = start(DisseminationMeasurement.STAR, session, middle);
                Cluster ring = start(DisseminationMeasurement.RING, session, middle)) {
            List<Cluster> both = List.of(star, ring);
            for (int origin = 1; origin <= Place.MEMBERS; origin++) {
                rows.add(
                        row(
                                session,
                                "WAN: durable commit at %s, coordinator in %s, p50"
                                        .formatted(lab.name(origin), lab.name(middle)),
                                both,
                                new Load(origin, 1, DisseminationMeasurement.SMALL_BYTES),
                                " ms",
                                false,
                                sample -> sample.get("p50Ns") / 1e6));
            }
            int bytes = DisseminationMeasurement.LARGE_BYTES;
            rows.add(
                    row(
                            session,
                            "WAN: durable, %d outstanding × 32 KiB at %s"
                                    .formatted(
                                            DisseminationMeasurement.OUTSTANDING, lab.name(middle)),
                            both,
                            new Load(middle, DisseminationMeasurement.OUTSTANDING, bytes),
                            " MB/s",
                            true,
                            sample ->
                                    sample.get("acknowledged")
                                            * (double) bytes
                                            / sample.get("elapsedNs")
                                            * 1e3));
        }
        return rows;
    }

    private Cluster start(Contender contender, Session session, int middle) {
        return Cluster.startLedBy(middle, contender, Shape.DURABLE, lab, session.folder());
    }

    private record Load(int member, int outstanding, int sizeBytes) {}

    /** The load runs in one cluster at a time, by turns. */
    private Row row(
            Session session,
            String what,
            List<Cluster> clusters,
            Load load,
            String unit,
            boolean moreIsBetter,
            ToDoubleFunction<Sample> of) {
        List<List<Double>> rounds = new ArrayList<>();
        for (Cluster cluster : clusters) {
            rounds.add(new ArrayList<>());
            round(cluster, load, session.warmUpMs(), of);
        }
        lab.watch();
        for (int round = 0; round < session.rounds(); round++) {
            for (int i = 0; i < clusters.size(); i++) {
                rounds.get(i).add(round(clusters.get(i), load, session.roundMs(), of));
            }
        }
        Figure star = new Figure(unit, rounds.get(0));
        Figure ring = new Figure(unit, rounds.get(1));
        List<String> judged = lab.judged(List.of(star, ring));
        session.progress("%s: star %s, ring %s".formatted(what, judged.get(0), judged.get(1)));
        @Nullable Double ratio =
                (moreIsBetter ? Row.higher(what, star, ring) : Row.lower(what, star, ring)).ratio();
        boolean valid = judged.get(0).startsWith(star.toString());
        return new Row(what, judged.get(0), judged.get(1), valid ? ratio : null);
    }

    private double round(Cluster cluster, Load load, int lengthMs, ToDoubleFunction<Sample> of) {
        MemberProcess member = cluster.member(load.member());
        member.ask(
                "start %d %d %d quiet".formatted(load.outstanding(), load.sizeBytes(), RETRY_MS));
        Pause.ofMs(Math.min(500, lengthMs / 4));
        member.ask("mark");
        Pause.ofMs(lengthMs);
        Sample measured = Sample.parse(member.ask("measured"));
        member.ask("stop");
        return of.applyAsDouble(measured);
    }
}
