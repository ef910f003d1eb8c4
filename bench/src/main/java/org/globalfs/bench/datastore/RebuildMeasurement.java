package org.globalfs.bench.datastore;

import java.util.ArrayList;
import java.util.List;
import org.globalfs.bench.lab.Figure;

/** How fast what a dead node had is made anew, without a limit of bandwidth. */
final class RebuildMeasurement implements Session.Measurement {
    private static final double GOAL = 200;

    @Override
    public String name() {
        return "rebuild";
    }

    @Override
    public List<Line> run(Session session) {
        List<Double> rates = new ArrayList<>();
        List<Double> waits = new ArrayList<>();
        for (int round = 0; round < session.rounds(); round++) {
            try (StoreCluster cluster = new StoreCluster(session.folder(), true, false)) {
                String _ = cluster.ask("fill " + session.rebuiltBytes());
                String dead = cluster.killOne();
                String[] answer = cluster.ask("rebuilt-without " + dead).split(" ", 2);
                waits.add(Long.parseLong(answer[0]) / 1e3);
                rates.add(Transfer.parse(answer[1]).megabytesPerSecond());
                System.err.printf("rebuild: %.0f MB/s%n", rates.getLast());
            }
        }
        return List.of(
                new Line(
                        "rebuild of a dead node of six, %d MiB of content"
                                .formatted(session.rebuiltBytes() >> 20),
                        new Figure(" MB/s", rates),
                        null,
                        Line.Goal.figure(GOAL, "≥ 200 MB/s")),
                new Line("from kill -9 to the first chunk", new Figure(" s", waits), null, null));
    }
}
