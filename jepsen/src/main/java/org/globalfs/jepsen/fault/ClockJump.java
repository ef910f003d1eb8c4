package org.globalfs.jepsen.fault;

import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.globalfs.jepsen.cluster.Clocks;
import org.globalfs.jepsen.cluster.TestedCluster;

/**
 * Processes' wall clocks that are wrong by as much, all of a sudden, and right again in the end.
 *
 * @param ahead negative: they are behind
 */
record ClockJump(String name, TestedCluster cluster, List<String> processes, Duration ahead)
        implements Fault {
    private static final int LEAST_S = 1;
    private static final int MOST_S = 600;

    /** One of these servers, all of them, or the mount, as chance wants it. */
    static ClockJump of(
            String name, TestedCluster cluster, List<String> servers, String mount, Random random) {
        List<String> some =
                switch (random.nextInt(3)) {
                    case 0 -> servers.subList(0, 1);
                    case 1 -> servers;
                    default -> List.of(mount);
                };
        int seconds = random.nextInt(LEAST_S, MOST_S + 1);
        return new ClockJump(
                name,
                cluster,
                List.copyOf(some),
                Duration.ofSeconds(random.nextBoolean() ? seconds : -seconds));
    }

    @Override
    public String target() {
        return "%s %+d s".formatted(String.join(" ", processes), ahead.toSeconds());
    }

    @Override
    public void begin() {
        set(ahead);
    }

    @Override
    public void end() {
        set(Duration.ZERO);
    }

    private void set(Duration offset) {
        Clocks clocks = cluster.around().clocks().orElseThrow();
        processes.forEach(process -> clocks.set(process, offset));
    }
}
