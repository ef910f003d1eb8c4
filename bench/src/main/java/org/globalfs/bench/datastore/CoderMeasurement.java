package org.globalfs.bench.datastore;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.globalfs.bench.lab.Figure;
import org.globalfs.bench.lab.MemberProcess;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.jspecify.annotations.Nullable;

/** How fast blocks are encoded on one thread, beside ISA-L in the same process. */
final class CoderMeasurement implements Session.Measurement {
    private static final int[][] CODES = {{4, 2}, {6, 3}, {9, 3}};
    private static final int[] BLOCK_MIB = {1, 4};
    private static final double GIGA = 1e9;

    /** Coders need less time than disks for figures to repeat, and there are 36 of them. */
    private static final double SECONDS_SHARE = 0.2;

    /** Beyond any processor's caches; in a smoke run, where it is most of the time, less. */
    private static final long COLD_BYTES = 256 << 20;

    private static final long QUICK_BYTES = 16 << 20;

    private static final Duration START = Duration.ofMinutes(2);

    /** What processes choose from: by the processor, and the last one without vectors. */
    private enum Variant {
        LOOKUP(true),
        VECTOR(false),
        TABLE(false);

        private final boolean beside;

        Variant(boolean beside) {
            this.beside = beside;
        }

        String option() {
            return "-Dglobalfs.coder=" + name().toLowerCase(Locale.ROOT);
        }
    }

    @Override
    public String name() {
        return "coder";
    }

    @Override
    public List<Line> run(Session session) {
        List<Line> lines = new ArrayList<>();
        for (Variant variant : Variant.values()) {
            try (MemberProcess member =
                    DatastoreMemberCommand.start(
                            "coder-" + variant.name().toLowerCase(Locale.ROOT),
                            session.folder(),
                            List.of("-Xmx1g", "-XX:+UseSerialGC", variant.option()),
                            List.of(
                                    "--kind=CODER",
                                    "--isal=" + (variant.beside ? session.isal() : "")))) {
                member.awaitReady(START);
                for (int[] code : CODES) {
                    for (int mebibytes : BLOCK_MIB) {
                        lines.add(line(session, member, variant, code, mebibytes, false));
                        lines.add(line(session, member, variant, code, mebibytes, true));
                    }
                }
            }
        }
        return lines;
    }

    private static Line line(
            Session session,
            MemberProcess member,
            Variant variant,
            int[] code,
            int mebibytes,
            boolean cold) {
        List<Double> ours = new ArrayList<>();
        List<Double> theirs = new ArrayList<>();
        long passedBytes = cold ? session.quick() ? QUICK_BYTES : COLD_BYTES : 0;
        String command =
                "encode %d %d %d %d %s"
                        .formatted(
                                code[0],
                                code[1],
                                mebibytes << 20,
                                passedBytes,
                                session.seconds() * SECONDS_SHARE);
        for (int round = 0; round < session.rounds(); round++) {
            String[] rates = member.ask(command, START).split(" ");
            ours.add(Long.parseLong(rates[0]) / GIGA);
            theirs.add(Long.parseLong(rates[1]) / GIGA);
        }
        ReedSolomon shape = ReedSolomon.of(code[0], code[1]);
        String what =
                "encode RS(%d,%d), %d MiB, %s, %s coder"
                        .formatted(
                                shape.dataChunks(),
                                shape.parityChunks(),
                                mebibytes,
                                cold ? "cold" : "hot",
                                variant.name().toLowerCase(Locale.ROOT));
        boolean measured = theirs.getFirst() > 0;
        return new Line(
                what,
                new Figure(" GB/s", ours),
                measured ? new Figure(" GB/s (ISA-L)", theirs) : null,
                goal(variant, cold));
    }

    private static Line.@Nullable Goal goal(Variant variant, boolean cold) {
        if (variant != Variant.LOOKUP) {
            return variant == Variant.TABLE ? Line.Goal.figure(1, "≥ 1 GB/s") : null;
        }
        return cold ? Line.Goal.figure(10, "≥ 10 GB/s") : Line.Goal.ratio(0.9, "≥ 0.9 × ISA-L");
    }
}
