package org.globalfs.jepsen.fault;

import java.time.Duration;
import java.util.Random;
import java.util.function.IntSupplier;
import org.globalfs.jepsen.cluster.Clocks;
import org.globalfs.jepsen.cluster.TestedCluster;

/** A process's wall clock that jumps to and fro, many times a second. */
final class ClockStrobe {
    private static final int LEAST_MS = 50;
    private static final int MOST_MS = 200;
    private static final int MOST_S = 10;

    private ClockStrobe() {}

    static Fault of(String name, TestedCluster cluster, String process, Random random) {
        int most = random.nextInt(1, MOST_S + 1);
        int seconds = random.nextBoolean() ? most : -most;
        Clocks clocks = cluster.around().clocks().orElseThrow();
        // Its own: it is used by another thread.
        Random times = new Random(random.nextLong());
        IntSupplier ms = () -> times.nextInt(LEAST_MS, MOST_MS + 1);
        return new Alternation(
                name,
                "%s %+d s".formatted(process, seconds),
                () -> clocks.set(process, Duration.ofSeconds(seconds)),
                ms,
                () -> clocks.set(process, Duration.ZERO),
                ms);
    }
}
