package org.globalfs.bench.multicast;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Figure;
import org.globalfs.bench.lab.MemberProcess;
import org.globalfs.bench.lab.Pause;
import org.globalfs.bench.multicast.Cluster.Shape;

/**
 * The coordinator is killed under load: how long nothing is acknowledged at a survivor, and whether
 * all that any member acknowledged is in everybody's order, once.
 */
final class FailOverMeasurement implements Session.Measurement {
    private static final int OUTSTANDING = 8;
    private static final int SIZE_BYTES = 200;
    private static final Duration CATCH_UP = Duration.ofSeconds(60);

    @Override
    public String name() {
        return "fail-over";
    }

    @Override
    public List<Row> run(Session session) {
        List<Double> gapsMs = new ArrayList<>();
        List<String> judged = new ArrayList<>();
        long acknowledged = 0;
        for (int round = 1; round <= session.rounds(); round++) {
            try (Cluster cluster =
                    Cluster.start(
                            Contender.GLOBALFS,
                            new Shape(true, 1, true),
                            session.place(),
                            session.folder())) {
                Outcome outcome = round(cluster, session);
                gapsMs.add(outcome.gapMs());
                judged.add(outcome.judged());
                acknowledged += outcome.acknowledged();
                session.progress(
                        "round %d: %.0f ms, %,d acknowledged"
                                .formatted(round, outcome.gapMs(), outcome.acknowledged()));
            }
        }
        return List.of(
                Row.alone(
                        "coordinator killed (SIGKILL): until delivery resumes",
                        judged.size() == 1
                                ? judged.getFirst()
                                : new Figure(" ms", gapsMs) + notes(judged)),
                Row.alone(
                        "… of %,d acknowledged".formatted(acknowledged),
                        "0 lost, 0 delivered twice, one order"));
    }

    private record Outcome(double gapMs, String judged, int acknowledged) {}

    /** What each round's figure came with, where that is more than a number. */
    private static String notes(List<String> judged) {
        List<String> notes = judged.stream().filter(text -> text.contains("router")).toList();
        return notes.isEmpty() ? "" : ": " + String.join("; ", notes);
    }

    private static Outcome round(Cluster cluster, Session session) {
        int victim = cluster.awaitCoordinator();
        List<MemberProcess> survivors = new ArrayList<>();
        String start =
                "start %d %d %d announce"
                        .formatted(OUTSTANDING, SIZE_BYTES, session.place().retryMs());
        cluster.members()
                .forEach((number, member) -> {
                    member.ask(start);
                    if (number != victim) {
                        survivors.add(member);
                    }
                });
        Pause.ofMs(Math.min(session.warmUpMs(), 5_000));
        survivors.forEach(member -> member.ask("mark"));
        Pause.ofMs(500);
        session.place().watch();
        MemberProcess dead = cluster.kill(victim);
        cluster.awaitCoordinator();
        Pause.ofMs(Math.max(2_000, 4L * session.place().retryMs()));
        double gapMs = 0;
        for (MemberProcess member : survivors) {
            Sample measured = Sample.parse(member.ask("measured"));
            gapMs = Math.max(gapMs, measured.get("longestGapNs") / 1e6);
        }
        String judged = session.place().judged(new Figure(" ms", List.of(gapMs)));
        survivors.forEach(member -> member.ask("stop"));
        cluster.restart(victim);
        awaitEqualCounts(cluster);

        Set<Long> acknowledged = new HashSet<>(dead.acknowledged());
        survivors.forEach(member -> acknowledged.addAll(member.acknowledged()));
        check(cluster, acknowledged);
        return new Outcome(gapMs, judged, acknowledged.size());
    }

    /**
     * Nothing is proposed any more: everybody comes to deliver the same number, and stays there.
     */
    private static void awaitEqualCounts(Cluster cluster) {
        long deadline = System.nanoTime() + CATCH_UP.toNanos();
        Set<String> before = Set.of();
        while (System.nanoTime() < deadline) {
            Set<String> counts = new HashSet<>();
            cluster.members().values().forEach(member -> counts.add(member.ask("count")));
            if (counts.size() == 1 && counts.equals(before)) {
                return;
            }
            before = counts;
            Pause.ofMs(300);
        }
        throw new BenchFailure("members delivered different numbers of values: " + before);
    }

    private static void check(Cluster cluster, Set<Long> acknowledged) {
        long[] first = {};
        for (var entry : cluster.members().entrySet()) {
            Path file = cluster.folder().resolve("deliveries-" + entry.getKey());
            entry.getValue().ask("record " + file);
            long[] delivered = read(file);
            if (first.length == 0) {
                first = delivered;
            }
            if (!Arrays.equals(first, delivered)) {
                throw new BenchFailure("member " + entry.getKey() + " delivered another order");
            }
        }
        Set<Long> once = new HashSet<>();
        for (long id : first) {
            if (!once.add(id)) {
                throw new BenchFailure("value %x was delivered twice".formatted(id));
            }
        }
        for (long id : acknowledged) {
            if (!once.contains(id)) {
                throw new BenchFailure("value %x was acknowledged and is lost".formatted(id));
            }
        }
    }

    private static long[] read(Path file) {
        try {
            byte[] bytes = Files.readAllBytes(file);
            long[] ids = new long[bytes.length / Long.BYTES];
            ByteBuffer.wrap(bytes).asLongBuffer().get(ids);
            return ids;
        } catch (IOException e) {
            throw new BenchFailure("cannot read " + file, e);
        }
    }
}
