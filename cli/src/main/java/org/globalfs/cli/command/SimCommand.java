package org.globalfs.cli.command;

import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import org.globalfs.cli.ExitCode;
import org.globalfs.multicast.sim.Soak;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Runs the ordering protocol in the simulator, for as long as wanted. */
@Command(
        name = "sim",
        description = {
            "Run the ordering protocol in a simulator, on simulated clocks, networks and disks with faults.",
            "Each seed is one run, the same every time. Ends with 1 when a run broke a property."
        },
        mixinStandardHelpOptions = true)
final class SimCommand implements Callable<Integer> {
    private static final long DEFAULT_SEEDS = 1000;
    private static final long HIGHEST_SEED = 1_000_000_000_000L;
    private static final double NS_A_MINUTE = 60e9;
    private static final long NO_LIMIT_NS = 1L << 60;

    @Spec private CommandSpec spec;

    @Option(
            names = "--seeds",
            paramLabel = "N",
            description = "How many seeds to run (default: 1000, or as many as --minutes allows).")
    private @Nullable Long seeds;

    @Option(
            names = "--minutes",
            paramLabel = "M",
            description = "End after so many minutes (default: no limit).")
    private @Nullable Double minutes;

    @Option(
            names = "--from",
            paramLabel = "SEED",
            description = "The first seed; the others follow it (default: a random one).")
    private @Nullable Long from;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Runs side by side (default: one a processor).")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Override
    public Integer call() {
        check(seeds == null || seeds > 0, "--seeds must be at least 1");
        check(
                minutes == null || minutes > 0 && minutes * NS_A_MINUTE < NO_LIMIT_NS,
                "--minutes must be above 0");
        check(threads > 0, "--threads must be at least 1");
        long first = from != null ? from : ThreadLocalRandom.current().nextLong(HIGHEST_SEED);
        long count = seeds != null ? seeds : minutes != null ? Long.MAX_VALUE : DEFAULT_SEEDS;
        long timeNs = minutes == null ? NO_LIMIT_NS : (long) (minutes * NS_A_MINUTE);
        System.out.println("seeds from " + first);
        SimReport report = new SimReport(System.out, System::nanoTime);
        Soak.run(LongStream.iterate(first, seed -> seed + 1).limit(count), timeNs, threads, report);
        report.end();
        return report.failures() == 0 ? ExitCode.OK : ExitCode.FAILED;
    }

    private void check(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
