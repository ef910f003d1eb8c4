package org.globalfs.multicast.sim;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.jspecify.annotations.Nullable;

/** One simulated run of rings in bad weather: everything comes from the seed. */
public final class RingSimulation {

    /**
     * How a run ended.
     *
     * @param hash of everything that happened: the same for the same seed and program
     * @param failure what went wrong, with its stack trace; null when nothing did
     */
    public record Outcome(
            long seed, long hash, long events, Coverage coverage, @Nullable String failure) {}

    private RingSimulation() {}

    public static Outcome run(long seed) {
        return run(seed, Plan.production());
    }

    static Outcome run(long seed, Plan plan) {
        SimCluster cluster = new SimCluster(seed, plan);
        String failure = null;
        try {
            cluster.storm();
            new CalmPhase(cluster).run();
        } catch (AssertionError | RuntimeException e) {
            StringWriter text = new StringWriter();
            e.printStackTrace(new PrintWriter(text));
            failure = text.toString();
        }
        return new Outcome(
                seed,
                cluster.simulation().hash(),
                cluster.simulation().events(),
                cluster.coverage(),
                failure);
    }
}
