package org.globalfs.bench.multicast;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Machine;
import org.globalfs.bench.lab.Workplace;
import org.globalfs.bench.multicast.LoadMeasurement.Shows;
import org.globalfs.multicast.MergeStrategy;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code globalfs bench multicast}. */
@Command(
        name = "multicast",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Measures multi-ring Paxos with three member processes and prints a table: on loopback,"
                    + " or in the regions of a WAN lab.",
            "Run it on an otherwise idle machine."
        })
public final class MulticastBench implements Callable<Integer> {
    @Option(
            names = "--only",
            split = ",",
            paramLabel = "NAME",
            description =
                    "Measure only these: durable-64, durable-1, memory, idle, fail-over,"
                            + " dissemination, merge; with --wan: commit, fail-over,"
                            + " dissemination, merge."
                            + " Default: all.")
    private Set<String> only = Set.of();

    @Option(
            names = "--warm-up",
            paramLabel = "SECONDS",
            description =
                    "Load before the first figure, for each cluster (default 60); under a steady"
                            + " load up to five times as long, while the rate still rises.")
    private int warmUpSeconds = 60;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            description = "Length of a round (default 10).")
    private int seconds = 10;

    @Option(names = "--rounds", paramLabel = "N", description = "Rounds (default 3).")
    private int rounds = 3;

    @Option(
            names = "--no-ratis",
            description = "Do not measure Apache Ratis beside, at its best durable settings.")
    private boolean withoutRatis;

    @Option(names = "--quick", description = "A smoke run: short, and no figure worth keeping.")
    private boolean quick;

    @Option(
            names = "--wan",
            paramLabel = "CONFIG",
            description =
                    "Put the members into the three regions of a WAN lab of this configuration"
                            + " (scripts/wan-lab/three-regions.conf is one). Root only.")
    private @Nullable Path wan;

    @Option(
            names = "--turns",
            split = ",",
            paramLabel = "M,LAMBDA,DELTA",
            description =
                    "The round-robin merge's instances a turn, instances a second, and ms between"
                            + " skips (default 1,9000,20).")
    private int[] turns = {1, 9000, 20};

    @Option(
            names = "--folder",
            paramLabel = "DIR",
            description =
                    "Where the logs go while measuring: a disk worth measuring (default: the"
                            + " temporary folder).")
    private Path folder = Path.of(System.getProperty("java.io.tmpdir"));

    @Override
    public Integer call() {
        if (warmUpSeconds < 0 || seconds < 1 || rounds < 1) {
            throw new BenchFailure("--seconds and --rounds are at least 1, --warm-up at least 0");
        }
        if (!Files.isDirectory(folder)) {
            throw new BenchFailure(folder + " is no folder");
        }
        try (Workplace workplace = new Workplace(folder.toAbsolutePath(), "bench-multicast-")) {
            measure(workplace.folder());
        }
        return 0;
    }

    private void measure(Path logs) {
        if (wan == null) {
            print(session(logs, new Loopback()), chosen(onLoopback()));
        } else {
            Path home = Path.of(System.getProperty("globalfs.home", "."));
            try (WanLab lab = new WanLab(home, wan)) {
                print(
                        session(logs, lab),
                        chosen(
                                List.of(
                                        new WanCommitMeasurement(lab),
                                        new FailOverMeasurement(),
                                        new WanDisseminationMeasurement(lab),
                                        MergeMeasurement.inLab(turns(), lab))));
            }
        }
    }

    private Session session(Path logs, Place place) {
        return new Session(
                logs,
                place,
                !withoutRatis,
                quick ? 1_000 : warmUpSeconds * 1000,
                quick ? 1_000 : seconds * 1000,
                quick ? 1 : rounds);
    }

    private static void print(Session session, List<Session.Measurement> chosen) {
        System.out.println(Machine.line(session.folder()));
        System.out.printf(
                "medians of %d rounds of %.0f s after %.0f s of warm-up%n%n",
                session.rounds(), session.roundMs() / 1e3, session.warmUpMs() / 1e3);
        Map<String, List<Row>> tables = new LinkedHashMap<>();
        for (Session.Measurement measurement : chosen) {
            System.err.println(measurement.name() + ":");
            tables.computeIfAbsent(measurement.head(), head -> new ArrayList<>())
                    .addAll(measurement.run(session));
        }
        tables.forEach((head, rows) -> {
            System.out.println(head);
            rows.forEach(row -> System.out.println(row.markdown()));
            System.out.println();
        });
    }

    private MergeStrategy.RoundRobin turns() {
        if (turns.length != 3 || turns[0] < 1 || turns[1] < 1 || turns[2] < 1) {
            throw new BenchFailure("--turns takes M,LAMBDA,DELTA, each 1 or more");
        }
        return new MergeStrategy.RoundRobin(turns[0], turns[1], Duration.ofMillis(turns[2]));
    }

    private List<Session.Measurement> onLoopback() {
        return List.of(
                new LoadMeasurement(
                        "durable-64",
                        "durable, 64 outstanding × 200 B",
                        true,
                        64,
                        200,
                        Shows.RATE,
                        Contender.GLOBALFS,
                        Contender.RATIS_THROUGHPUT),
                new LoadMeasurement(
                        "durable-1",
                        "durable, 1 outstanding × 200 B",
                        true,
                        1,
                        200,
                        Shows.LATENCY,
                        Contender.GLOBALFS,
                        Contender.RATIS_LATENCY),
                new LoadMeasurement(
                        "memory",
                        "memory, 64 outstanding × 32 KiB",
                        false,
                        64,
                        32 << 10,
                        Shows.BYTES,
                        Contender.GLOBALFS,
                        null),
                new IdleMeasurement(),
                new FailOverMeasurement(),
                new DisseminationMeasurement(),
                MergeMeasurement.onLoopback(turns()));
    }

    private List<Session.Measurement> chosen(List<Session.Measurement> all) {
        Set<String> names =
                all.stream()
                        .map(Session.Measurement::name)
                        .collect(Collectors.toCollection(TreeSet::new));
        for (String name : only) {
            if (!names.contains(name)) {
                throw new BenchFailure("no measurement " + name + ", only " + names);
            }
        }
        return all.stream()
                .filter(measurement -> only.isEmpty() || only.contains(measurement.name()))
                .toList();
    }
}
