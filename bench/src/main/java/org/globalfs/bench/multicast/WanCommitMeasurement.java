package org.globalfs.bench.multicast;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.globalfs.bench.lab.Figure;
import org.globalfs.bench.lab.MemberProcess;
import org.globalfs.bench.lab.Pause;
import org.globalfs.bench.multicast.Cluster.Shape;

/**
 * What a commit takes where it was proposed, region by region, with the coordinator in the middle.
 */
final class WanCommitMeasurement implements Session.Measurement {
    private static final int SIZE_BYTES = 200;

    private final WanLab lab;

    WanCommitMeasurement(WanLab lab) {
        this.lab = lab;
    }

    @Override
    public String name() {
        return "commit";
    }

    @Override
    public List<Row> run(Session session) {
        int middle = lab.middle();
        List<Row> rows = new ArrayList<>();
        try (Cluster cluster =
                Cluster.startLedBy(
                        middle, Contender.GLOBALFS, Shape.DURABLE, lab, session.folder())) {
            for (int origin = 1; origin <= Place.MEMBERS; origin++) {
                rows.add(row(session, cluster, origin, middle));
            }
        }
        return rows;
    }

    private Row row(Session session, Cluster cluster, int origin, int middle) {
        MemberProcess member = cluster.member(origin);
        member.ask("start 1 " + SIZE_BYTES + " " + lab.retryMs() + " quiet");
        Pause.ofMs(session.warmUpMs());
        lab.watch();
        List<Double> rounds = new ArrayList<>();
        for (int round = 0; round < session.rounds(); round++) {
            member.ask("mark");
            Pause.ofMs(session.roundMs());
            rounds.add(Sample.parse(member.ask("measured")).get("p50Ns") / 1e6);
        }
        String figure = lab.judged(new Figure(" ms", rounds));
        member.ask("stop");
        session.progress(lab.name(origin) + ": " + figure);
        String what =
                String.format(
                        Locale.ROOT,
                        "WAN: durable commit at %s, %.0f ms from the next region, coordinator in"
                                + " %s, p50",
                        lab.name(origin),
                        lab.nearestMs(origin),
                        lab.name(middle));
        return Row.alone(what, figure);
    }
}
