package org.globalfs.bench.multicast;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.bench.lab.Figure;
import org.globalfs.bench.lab.MemberProcess;
import org.globalfs.bench.lab.Pause;
import org.globalfs.bench.multicast.Cluster.Shape;

/** What many rings cost a process while nothing is proposed. */
final class IdleMeasurement implements Session.Measurement {
    private static final int RINGS = 100;

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public List<Row> run(Session session) {
        Figure one = percentOfACore(session, 1);
        Figure many = percentOfACore(session, RINGS);
        double each = Math.max(0, (many.median() - one.median()) / (RINGS - 1));
        return List.of(
                Row.alone("idle process with 1 ring", one.toString()),
                Row.alone(
                        "idle process with " + RINGS + " rings",
                        many + ", %.3f %% a ring".formatted(each)));
    }

    /** The busiest member's. */
    private static Figure percentOfACore(Session session, int rings) {
        try (Cluster cluster =
                Cluster.start(
                        Contender.GLOBALFS,
                        new Shape(true, rings, false),
                        session.place(),
                        session.folder())) {
            Pause.ofMs(Math.min(5_000, session.warmUpMs())); // elections and the compiler's work
            List<Double> rounds = new ArrayList<>();
            for (int round = 0; round < session.rounds(); round++) {
                rounds.add(round(cluster, session.roundMs()));
            }
            session.progress(rings + " rings: " + rounds + " % of a core");
            return new Figure(" % of a core", rounds);
        }
    }

    private static double round(Cluster cluster, int lengthMs) {
        List<MemberProcess> members = List.copyOf(cluster.members().values());
        List<Sample> before = usage(members);
        long start = System.nanoTime();
        Pause.ofMs(lengthMs);
        List<Sample> after = usage(members);
        double elapsedNs = System.nanoTime() - start;
        double most = 0;
        for (int i = 0; i < members.size(); i++) {
            most = Math.max(most, after.get(i).since(before.get(i), "cpuNs") / elapsedNs);
        }
        return 100 * most;
    }

    private static List<Sample> usage(List<MemberProcess> members) {
        return members.stream().map(member -> Sample.parse(member.ask("usage"))).toList();
    }
}
