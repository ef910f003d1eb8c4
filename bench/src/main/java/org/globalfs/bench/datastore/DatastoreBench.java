package org.globalfs.bench.datastore;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Machine;
import org.globalfs.bench.lab.Workplace;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code globalfs bench datastore}. */
@Command(
        name = "datastore",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures the datastore on this machine and prints a table with its targets: the"
                    + " erasure coder beside ISA-L, blocks put into and got from six storage nodes"
                    + " beside what the disk gives a single file, a cache, reads while one node is"
                    + " slow, and the rebuild of a dead node.",
            "Run it on an otherwise idle machine."
        })
public final class DatastoreBench implements Callable<Integer> {
    private static final List<Session.Measurement> ALL =
            List.of(
                    new CoderMeasurement(),
                    new StoreMeasurement(),
                    new SlowNodeMeasurement(),
                    new RebuildMeasurement());

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "NAME",
            description = "Measure only these: coder, store, slow-node, rebuild. Default: all.")
    private Set<String> only = Set.of();

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            description =
                    "Length of each part of a round (default 5); the coder's many parts take a fifth"
                            + " of it.")
    private double seconds = 5;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds (default 3).")
    private int rounds = 3;

    @Option(
            names = "--gib",
            paramLabel = "N",
            description = "Content that is written before a node dies (default 2).")
    private double gibibytes = 2;

    @Option(
            names = "--isal",
            paramLabel = "FILE",
            description =
                    "ISA-L's library (default libisal.so.2, of Debian's libisal2); without it the"
                            + " coder is measured alone.")
    private String isal = "libisal.so.2";

    @Option(names = "--quick", description = "A smoke run: short, and no figure worth keeping.")
    private boolean quick;

    @Option(
            names = "--folder",
            paramLabel = "DIR",
            description =
                    "Where nodes keep chunks meanwhile: a disk worth measuring, with some 30 GB"
                            + " free (default: the temporary folder).")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"));

    @Override
    public Integer call() {
        if (!(seconds > 0) || rounds < 1 || !(gibibytes > 0)) {
            throw new BenchFailure("--seconds and --gib are above 0, --rounds is at least 1");
        }
        if (!Files.isDirectory(folder)) {
            throw new BenchFailure(folder + " is no folder");
        }
        List<Session.Measurement> chosen = chosen();
        try (Workplace workplace = new Workplace(folder.toAbsolutePath(), "bench-datastore-")) {
            Session session =
                    new Session(
                            workplace.folder(),
                            isal,
                            quick ? 0.1 : seconds,
                            quick ? 1 : rounds,
                            quick ? 64 << 20 : (long) (gibibytes * (1 << 30)),
                            quick);
            System.out.println(Machine.line(workplace.folder()));
            System.out.printf(
                    "medians of %d rounds of %.1f s%n%n", session.rounds(), session.seconds());
            List<Line> lines = new ArrayList<>();
            for (Session.Measurement measurement : chosen) {
                System.err.println(measurement.name() + ":");
                lines.addAll(measurement.run(session));
            }
            System.out.println(Line.HEAD);
            lines.forEach(line -> System.out.println(line.markdown()));
        }
        return 0;
    }

    private List<Session.Measurement> chosen() {
        List<String> names = ALL.stream().map(Session.Measurement::name).toList();
        for (String name : only) {
            if (!names.contains(name)) {
                throw new BenchFailure("no measurement " + name + ", only " + names);
            }
        }
        return ALL.stream()
                .filter(measurement -> only.isEmpty() || only.contains(measurement.name()))
                .toList();
    }
}
