package org.globalfs.bench.agar;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.globalfs.datastore.cache.policy.BlockKey;
import org.globalfs.datastore.cache.policy.CachePlan;
import org.globalfs.datastore.cache.policy.CachePlanner;
import org.globalfs.datastore.cache.policy.Candidate;

/** How long a cache's plan takes on this machine when it knows very many objects. */
final class PlanningTime {
    private static final int RUNS = 5;

    /** Of a hundred objects' bytes so many fit. */
    private static final int PERCENT = 10;

    private PlanningTime() {}

    /**
     * Plans from scratch, as a cache does each period, for objects of {@link Setting} of which the
     * n-th is asked for 1/n as often as the first; prints each time.
     *
     * @param objects 1 at least
     */
    static void print(CachePlanner planner, int objects, long seed, PrintStream out) {
        List<Candidate> candidates = new ArrayList<>(objects);
        for (int i = 0; i < objects; i++) {
            candidates.add(new Candidate(new BlockKey(0, i), 1.0 / (i + 1), Setting.LAYOUT));
        }
        Collections.shuffle(candidates, new Random(seed));
        long capacity = Math.max(1, (long) objects * Setting.OBJECT_BYTES / 100 * PERCENT);
        for (int run = 1; run <= RUNS; run++) {
            long startNs = System.nanoTime();
            CachePlan plan =
                    planner.plan(candidates, Setting.latencies(), Setting.CACHE_MS, capacity);
            double seconds = (System.nanoTime() - startNs) / 1e9;
            out.printf(
                    Locale.ROOT,
                    "plan %d of %,d objects: %.3f s, %,d of them in the cache%n",
                    run,
                    objects,
                    seconds,
                    plan.chunks().size());
        }
    }
}
