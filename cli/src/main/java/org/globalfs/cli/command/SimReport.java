package org.globalfs.cli.command;

import java.io.PrintStream;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.globalfs.multicast.sim.Coverage;
import org.globalfs.multicast.sim.RingSimulation;

/** Tells of simulated runs as they end: progress now and then, every failure at once. */
final class SimReport implements Consumer<RingSimulation.Outcome> {
    private static final long PROGRESS_NS = 10_000_000_000L;

    private final PrintStream out;
    private final LongSupplier clock;
    private final long startNs;
    private final Coverage coverage = new Coverage();
    private long toldNs;
    private long runs;
    private long failures;
    private long hashes;

    SimReport(PrintStream out, LongSupplier clock) {
        this.out = out;
        this.clock = clock;
        this.startNs = clock.getAsLong();
        this.toldNs = startNs;
    }

    @Override
    public void accept(RingSimulation.Outcome outcome) {
        runs++;
        coverage.add(outcome.coverage());
        hashes ^= outcome.hash();
        String failure = outcome.failure();
        if (failure != null) {
            failures++;
            out.println("seed " + outcome.seed() + " FAILED: " + failure.strip());
            out.println("repeat it with: globalfs sim --from " + outcome.seed() + " --seeds 1");
        }
        if (clock.getAsLong() - toldNs >= PROGRESS_NS) {
            toldNs = clock.getAsLong();
            out.println(summary());
        }
    }

    private String summary() {
        return String.format(
                "%d runs in %d s, %d failed",
                runs, (clock.getAsLong() - startNs) / 1_000_000_000L, failures);
    }

    /** The last words. The hash is the same for the same seeds and program. */
    void end() {
        out.println(summary());
        out.println(String.format("hash %016x; %s", hashes, coverage));
    }

    long failures() {
        return failures;
    }
}
