package org.globalfs.jepsen;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;
import org.globalfs.jepsen.cluster.Surroundings;
import org.globalfs.jepsen.cluster.TestedCluster;
import org.globalfs.jepsen.fault.FaultKind;
import org.globalfs.jepsen.report.Report;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The entry point of {@code globalfs jepsen}. */
@Command(
        name = "globalfs jepsen",
        description =
                "Records what clients in three regions are told while a cluster of processes is"
                        + " broken, and judges it. As root each region gets a network of its own, and"
                        + " each server a disk, which can be broken too.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:every history is valid and the replicas are equal in the end",
            "1:not so, or it could not be found out",
            "2:wrong usage",
        })
public final class JepsenMain implements Callable<Integer> {
    private static final String MIXED = "mixed";
    private static final int MOST_SLICE_SECONDS = 30;

    /** A year. */
    private static final int MOST_MINUTES = 525_600;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "5",
            description = "How long workloads run; one after the other, 30 s each or less.")
    private double minutes;

    @Option(
            names = "--workload",
            paramLabel = "W",
            split = ",",
            description = "Which workloads (default: all).")
    private List<String> workloads = List.of();

    @Option(
            names = "--nemesis",
            paramLabel = "X",
            split = ",",
            defaultValue = MIXED,
            description = "Which faults, one at a time in turn; mixed: all; none.")
    private List<String> nemeses = List.of();

    @Option(
            names = "--seed",
            paramLabel = "S",
            description = "What operations and faults follow from.")
    private @Nullable Long seed;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            defaultValue = "globalfs-jepsen",
            description = "Where report.html, histories and logs go (default: ${DEFAULT-VALUE}).")
    private Path output = Path.of("");

    @Option(
            names = "--moves",
            description =
                    "Trees move between regions all the time, and one of them into the global"
                            + " partition and out of it, whatever else happens: by command, and"
                            + " because the oracles pull them to whoever uses them.")
    private boolean moves;

    @Option(
            names = "--no-zookeeper",
            description =
                    "ZooKeeper is dead from the start to the end of the workloads. Without it no"
                            + " server can start, so faults that start some are left out.")
    private boolean noZooKeeper;

    @Option(names = "--no-wan", description = "All on loopback, also as root.")
    private boolean noWan;

    @Spec private CommandSpec spec;

    public static void main(String[] args) {
        CommandLine line = new CommandLine(new JepsenMain());
        line.setExecutionExceptionHandler((failure, command, parsed) -> {
            if (failure instanceof IOException) {
                command.getErr().println("globalfs jepsen: " + failure.getMessage());
            }
            if (!(failure instanceof IOException) || System.getenv("GLOBALFS_DEBUG") != null) {
                failure.printStackTrace(command.getErr());
            }
            return CommandLine.ExitCode.SOFTWARE;
        });
        line.setParameterExceptionHandler((wrong, arguments) -> {
            wrong.getCommandLine()
                    .getErr()
                    .println(
                            "globalfs jepsen: "
                                    + wrong.getMessage()
                                    + ": try 'globalfs jepsen --help'");
            return CommandLine.ExitCode.USAGE;
        });
        int code = line.execute(args);
        System.out.flush();
        System.exit(code);
    }

    @Override
    public Integer call() throws IOException {
        Path home = Path.of(System.getProperty("globalfs.home", "")).toAbsolutePath();
        Path results = output.toAbsolutePath().normalize();
        refuseOldResults(results);
        Path work = Files.createTempDirectory("globalfs-jepsen-");
        Surroundings around = Surroundings.of(home, work, System.out::println);
        if (noWan) {
            around = around.onLoopback();
        }
        FaultyRun.Settings settings;
        try {
            settings = settings(around);
        } catch (ParameterException e) {
            TestedCluster.remove(work);
            throw e;
        }
        GoProgram.Result built = GoProgram.buildAll(home.resolve("jepsen"), work);
        if (built.exitCode() != 0) {
            TestedCluster.remove(work);
            throw new IOException("cannot build what is written in Go: " + built.output());
        }
        System.out.println("seed " + settings.seed() + "; starting a cluster in " + work);
        FaultyRun.Result result;
        try (Opened opened = new Opened()) {
            opened.add(around);
            around.up();
            Path jar = Path.of(System.getProperty("globalfs.jar", ""));
            TestedCluster cluster =
                    new TestedCluster(TestedCluster.program(jar), work.resolve("data"), around);
            opened.add(cluster);
            cluster.up();
            if (moves) {
                cluster.letTreesFollowTheirUsers();
            }
            result = FaultyRun.on(cluster, work, settings, results);
        }
        System.out.print(Report.text(result.verdicts()));
        result.difference().ifPresent(System.out::println);
        if (moves) {
            System.out.println(result.faults().getLast());
        }
        System.out.println(
                result.faults().size() + " faults; see " + results.resolve("report.html"));
        if (result.valid()) {
            TestedCluster.remove(work);
        } else {
            System.out.println("NOT VALID. The cluster's folder is kept: " + work);
        }
        return result.valid() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private FaultyRun.Settings settings(Surroundings around) {
        List<String> chosen = workloads.isEmpty() ? FaultyRun.workloads() : workloads;
        for (String name : chosen) {
            if (!FaultyRun.workloads().contains(name)) {
                throw wrong("no workload '" + name + "'; there are " + FaultyRun.workloads());
            }
        }
        if (!(minutes > 0) || minutes > MOST_MINUTES) {
            throw wrong("--minutes " + minutes + " is not above 0, and a year at most");
        }
        double slice = Math.min(MOST_SLICE_SECONDS, minutes * 60 / chosen.size());
        Duration turn = Duration.ofMillis((long) (slice * 1_000));
        if (turn.compareTo(Campaign.LEAST) <= 0) {
            throw wrong(
                    "--minutes "
                            + minutes
                            + " is too short for any history of "
                            + chosen.size()
                            + " workloads: give 0.01 for each or more");
        }
        return new FaultyRun.Settings(
                chosen,
                kinds(around),
                turn,
                Duration.ofMillis((long) (minutes * 60_000)),
                moves,
                !noZooKeeper,
                seed == null ? System.nanoTime() & 0xffffff : seed);
    }

    private List<FaultKind> kinds(Surroundings around) {
        if (nemeses.equals(List.of("none"))) {
            return List.of();
        }
        if (nemeses.equals(List.of(MIXED))) {
            return FaultKind.possible(around).stream()
                    .filter(kind -> !noZooKeeper || !kind.startsProcesses())
                    .toList();
        }
        List<FaultKind> kinds = new ArrayList<>();
        for (String label : nemeses) {
            try {
                kinds.add(FaultKind.of(label));
            } catch (IllegalArgumentException e) {
                throw wrong(String.valueOf(e.getMessage()));
            }
            if (!around.has(kinds.getLast().needs())) {
                throw wrong(label + " needs what there is not here, see above");
            }
            if (noZooKeeper && kinds.getLast().startsProcesses()) {
                throw wrong(label + " starts processes, which takes ZooKeeper");
            }
        }
        return kinds;
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private void refuseOldResults(Path results) {
        if (Files.exists(results.resolve("report.html"))) {
            throw wrong(output + " holds a report already: choose another --output");
        }
    }

    /** Closes what was opened, the last first, at its end or when the program is interrupted. */
    private static final class Opened implements AutoCloseable {
        private final Deque<AutoCloseable> resources = new ArrayDeque<>();

        Opened() {
            Runtime.getRuntime().addShutdownHook(new Thread(this::close, "close"));
        }

        synchronized void add(AutoCloseable resource) {
            resources.push(resource);
        }

        @Override
        public synchronized void close() {
            while (!resources.isEmpty()) {
                try {
                    resources.pop().close();
                } catch (Exception e) {
                    System.err.println("globalfs jepsen: cannot clean up: " + e.getMessage());
                }
            }
        }
    }
}
