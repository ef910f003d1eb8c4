package org.globalfs.jepsen.fault;

import java.io.IOException;
import java.time.Duration;
import java.util.Random;
import java.util.function.IntSupplier;
import org.globalfs.jepsen.cluster.Clocks;
import org.globalfs.jepsen.cluster.TestedCluster;

/** A server's wall clock that jumps to and fro, many times a second. */
final class ClockStrobe implements Fault {
    private static final int LEAST_MS = 50;
    private static final int MOST_MS = 200;
    private static final int MOST_S = 10;

    private final String name;
    private final String server;
    private final int seconds;
    private final Alternation alternation;

    ClockStrobe(String name, TestedCluster cluster, String server, Random random) {
        this.name = name;
        this.server = server;
        int most = random.nextInt(1, MOST_S + 1);
        seconds = random.nextBoolean() ? most : -most;
        Clocks clocks = cluster.around().clocks().orElseThrow();
        // Its own: it is used by another thread.
        Random times = new Random(random.nextLong());
        IntSupplier ms = () -> times.nextInt(LEAST_MS, MOST_MS + 1);
        alternation =
                new Alternation(
                        () -> clocks.set(server, Duration.ofSeconds(seconds)),
                        ms,
                        () -> clocks.set(server, Duration.ZERO),
                        ms);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String target() {
        return "%s %+d s".formatted(server, seconds);
    }

    /** As when a clock jumps once. */
    @Override
    public boolean spares(String client, String partition) {
        return true;
    }

    @Override
    public void begin() {
        alternation.begin();
    }

    @Override
    public void end() throws IOException {
        alternation.end();
    }
}
