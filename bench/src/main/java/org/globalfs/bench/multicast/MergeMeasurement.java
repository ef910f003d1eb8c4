package org.globalfs.bench.multicast;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Figure;
import org.globalfs.bench.lab.MemberProcess;
import org.globalfs.bench.lab.Pause;
import org.globalfs.bench.multicast.Cluster.Shape;
import org.globalfs.bench.multicast.member.MergedLogMember;
import org.globalfs.multicast.MergeStrategy;
import org.globalfs.protocol.Dissemination;
import org.jspecify.annotations.Nullable;

/**
 * What a command of a region takes that is merged with ring global, with home rings and by
 * round-robin, beside the region alone. The region leads both rings; another region loads ring
 * global, and all that it orders concerns the region.
 */
final class MergeMeasurement implements Session.Measurement {
    private static final int MEMBERS = 2 * MergedLogMember.HOME_MEMBERS;
    private static final int ATTEMPTS = 10;
    private static final int GLOBAL_OUTSTANDING = 64;
    private static final int SIZE_BYTES = 200;

    /** Between regional commands, so that it is not the processors that they wait for. */
    private static final int PAUSE_MS = 5;

    /** A stall is a figure, not a loss. */
    private static final int RETRY_MS = 5_000;

    private final MergeStrategy.RoundRobin turns;
    private final IntFunction<Place> places;
    private final String where;

    private MergeMeasurement(
            MergeStrategy.RoundRobin turns, IntFunction<Place> places, String where) {
        this.turns = turns;
        this.places = places;
        this.where = where;
    }

    static MergeMeasurement onLoopback(MergeStrategy.RoundRobin turns) {
        return new MergeMeasurement(turns, Loopback::new, "loopback");
    }

    static MergeMeasurement inLab(MergeStrategy.RoundRobin turns, WanLab lab) {
        String where =
                String.format(
                        Locale.ROOT,
                        "WAN, regions %.0f ms apart",
                        new TwoRegions(lab, MEMBERS).rttMs());
        return new MergeMeasurement(turns, members -> new TwoRegions(lab, members), where);
    }

    @Override
    public String name() {
        return "merge";
    }

    @Override
    public String head() {
        return Row.head("p50", "p99", "p50 of the region alone");
    }

    /** What the rounds of one way to merge gave. */
    private record Latency(Figure p50, Figure p99, String judged50, String judged99) {
        boolean valid() {
            return judged50.startsWith(p50.toString());
        }
    }

    @Override
    public List<Row> run(Session session) {
        List<Row> rows = new ArrayList<>();
        String command = where + ": a regional command of 200 B, ";
        Latency alone =
                measure(
                        session,
                        MergedLogMember.ALONE,
                        places.apply(MergedLogMember.HOME_MEMBERS),
                        rows,
                        command + "without ring global",
                        null);
        String loaded = command + "ring global loaded, merged by ";
        measure(
                session,
                MergedLogMember.HOME_RING,
                places.apply(MEMBERS),
                rows,
                loaded + "home ring",
                alone);
        measure(
                session,
                MergedLogMember.system(turns),
                places.apply(MEMBERS),
                rows,
                loaded
                        + "round-robin (M = %d, lambda = %,d/s, delta = %d ms)"
                                .formatted(turns.turn(), turns.lambda(), turns.delta().toMillis()),
                alone);
        return rows;
    }

    private Latency measure(
            Session session,
            String system,
            Place place,
            List<Row> rows,
            String what,
            @Nullable Latency alone) {
        Contender contender =
                new Contender(system, system, Dissemination.STAR, Contender.GLOBALFS.jvmFlags());
        try (Cluster cluster = start(contender, session, place)) {
            boolean loaded = place.members() > MergedLogMember.HOME_MEMBERS;
            MemberProcess region = cluster.member(cluster.awaitCoordinator());
            MemberProcess other = cluster.member(place.members());
            if (loaded) {
                load(other, GLOBAL_OUTSTANDING, 0);
            }
            load(region, 1, PAUSE_MS);
            Pause.ofMs(session.warmUpMs());
            place.watch();
            List<Double> p50 = new ArrayList<>();
            List<Double> p99 = new ArrayList<>();
            List<Double> rate = new ArrayList<>();
            for (int round = 0; round < session.rounds(); round++) {
                region.ask("mark");
                if (loaded) {
                    other.ask("mark");
                }
                Pause.ofMs(session.roundMs());
                Sample sample = Sample.parse(region.ask("measured"));
                p50.add(sample.get("p50Ns") / 1e6);
                p99.add(sample.get("p99Ns") / 1e6);
                if (loaded) {
                    Sample global = Sample.parse(other.ask("measured"));
                    rate.add(global.get("acknowledged") * 1e9 / global.get("elapsedNs"));
                }
            }
            Latency latency = judged(place, new Figure(" ms", p50), new Figure(" ms", p99));
            session.progress(what + ": p50 " + latency.judged50 + ", p99 " + latency.judged99);
            rows.add(
                    new Row(
                            what,
                            latency.judged50,
                            latency.judged99,
                            alone == null || !latency.valid() || !alone.valid()
                                    ? null
                                    : latency.p50.median() / alone.p50.median()));
            if (loaded) {
                rows.add(Row.alone("… ring global meanwhile", new Figure("/s", rate).toString()));
            }
            return latency;
        }
    }

    /** Chance decides who leads; both rings are led from the region in the end. */
    private static Cluster start(Contender contender, Session session, Place place) {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Cluster cluster =
                    Cluster.startWithFirst(
                            MergedLogMember.HOME_MEMBERS,
                            1,
                            contender,
                            Shape.DURABLE,
                            place,
                            session.folder());
            try {
                int leader = cluster.awaitCoordinatorOf(place.members());
                if (leader <= MergedLogMember.HOME_MEMBERS) {
                    return cluster;
                }
            } catch (RuntimeException e) {
                cluster.close();
                throw e;
            }
            cluster.close();
        }
        throw new BenchFailure("ring global was never led from the region");
    }

    private static Latency judged(Place place, Figure p50, Figure p99) {
        String judged = place.judged(p50);
        boolean valid = judged.startsWith(p50.toString());
        return new Latency(p50, p99, judged, valid ? p99.toString() : judged);
    }

    private static void load(MemberProcess member, int outstanding, int pauseMs) {
        member.ask("start %d %d %d quiet %d".formatted(outstanding, SIZE_BYTES, RETRY_MS, pauseMs));
    }
}
