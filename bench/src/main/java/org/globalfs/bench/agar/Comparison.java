package org.globalfs.bench.agar;

import java.util.Locale;
import org.globalfs.datastore.cache.policy.FixedChunks.Choice;
import org.globalfs.datastore.cache.policy.HullPlanner;

/**
 * Average reads in one setting, in ms: Agar's, and those of each simpler policy with the number of
 * chunks that suits it best.
 */
record Comparison(double agar, double lru, double lfu, double tinyLfu, double none) {

    static Comparison of(Setting setting, long seed) {
        Simulation simulation = new Simulation(setting);
        return new Comparison(
                simulation.run(Simulation.agar(new HullPlanner()), seed).averageMs(),
                best(simulation, Choice.LRU, seed),
                best(simulation, Choice.LFU, seed),
                best(simulation, Choice.TINY_LFU, seed),
                simulation.run(Simulation.NO_CACHE, seed).averageMs());
    }

    private static double best(Simulation simulation, Choice choice, long seed) {
        double best = Double.MAX_VALUE;
        for (int chunks : AgarBench.CHUNKS) {
            double ms = simulation.run(Simulation.fixed(choice, chunks), seed).averageMs();
            best = Math.min(best, ms);
        }
        return best;
    }

    /** How much sooner Agar's reads end than those of the best other policy: a share. */
    double gain() {
        return 1 - agar / Math.min(tinyLfu, Math.min(lru, lfu));
    }

    double[] values() {
        return new double[] {agar, lru, lfu, tinyLfu, none};
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "Agar %5.0f, best LRU %5.0f, LFU %5.0f, TinyLFU %5.0f, no cache %5.0f: gain %5.1f %%",
                agar,
                lru,
                lfu,
                tinyLfu,
                none,
                100 * gain());
    }
}
