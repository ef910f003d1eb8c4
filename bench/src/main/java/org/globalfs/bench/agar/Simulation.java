package org.globalfs.bench.agar;

import java.util.Map;
import java.util.Random;
import org.globalfs.datastore.cache.policy.AgarPolicy;
import org.globalfs.datastore.cache.policy.BlockKey;
import org.globalfs.datastore.cache.policy.CachePlanner;
import org.globalfs.datastore.cache.policy.CachePolicy;
import org.globalfs.datastore.cache.policy.ChunkLayout;
import org.globalfs.datastore.cache.policy.FixedChunks;
import org.globalfs.datastore.cache.policy.RegionLatencies;
import org.globalfs.datastore.cache.policy.RequestMonitor;

/**
 * Clients read objects one after another through a cache; a read takes as long as the slowest chunk
 * that it needs. Time is simulated; the requests follow from a seed, the same for every policy.
 */
final class Simulation {
    private static final int SKETCH_COLUMNS = 4096;

    private final Setting setting;
    private final RegionLatencies latencies = Setting.latencies();
    private final Zipf zipf;

    /**
     * What a run, or several, came to.
     *
     * @param averageMs of all reads
     * @param hits share of reads that found some chunk in the cache
     */
    record Result(double averageMs, double hits) {}

    /** Makes the policy of one run. */
    interface Policies {
        CachePolicy make(RequestMonitor monitor, RegionLatencies latencies, long capacityBytes);
    }

    Simulation(Setting setting) {
        this.setting = setting;
        zipf = new Zipf(Setting.OBJECTS, setting.skew());
    }

    /** Every read goes to the regions. */
    static final Policies NO_CACHE =
            (monitor, latencies, capacity) ->
                    new CachePolicy() {
                        @Override
                        public long cached(BlockKey key) {
                            return 0;
                        }

                        @Override
                        public void asked(BlockKey key, ChunkLayout layout) {}

                        @Override
                        public long wanted(BlockKey key, ChunkLayout layout) {
                            return 0;
                        }

                        @Override
                        public Map<BlockKey, Long> add(
                                BlockKey key, ChunkLayout layout, long chunks) {
                            return Map.of(key, chunks);
                        }

                        @Override
                        public void remove(BlockKey key, long chunks) {}

                        @Override
                        public void endPeriod() {}
                    };

    static Policies agar(CachePlanner planner) {
        return (monitor, latencies, capacity) ->
                new AgarPolicy(
                        monitor, planner, latencies, Setting.CACHE_MS, capacity, Setting.OBJECTS);
    }

    static Policies fixed(FixedChunks.Choice choice, int chunks) {
        return (monitor, latencies, capacity) ->
                new FixedChunks(choice, chunks, monitor, latencies, capacity, Setting.OBJECTS);
    }

    /** The average of several runs, each with a cold cache. */
    Result run(Policies policies, long seed) {
        double ms = 0;
        double hits = 0;
        for (int run = 0; run < Setting.RUNS; run++) {
            CachePolicy policy =
                    policies.make(
                            new RequestMonitor(SKETCH_COLUMNS, Setting.OBJECTS),
                            latencies,
                            setting.capacityBytes());
            Result result = run(policy, seed + run);
            ms += result.averageMs;
            hits += result.hits;
        }
        return new Result(ms / Setting.RUNS, hits / Setting.RUNS);
    }

    /** One run on this policy. */
    Result run(CachePolicy policy, long seed) {
        Random random = new Random(seed);
        double[] freeAtMs = new double[Setting.CLIENTS];
        double periodEndsMs = Setting.PERIOD_MS;
        double sumMs = 0;
        int hits = 0;
        for (int read = -setting.warmUpReads(); read < Setting.READS; read++) {
            int client = freeAtMs[0] <= freeAtMs[1] ? 0 : 1;
            while (freeAtMs[client] >= periodEndsMs) {
                policy.endPeriod();
                periodEndsMs += Setting.PERIOD_MS;
            }
            BlockKey key = new BlockKey(0, zipf.draw(random));
            policy.asked(key, Setting.LAYOUT);
            long cached = policy.cached(key);
            double ms = Setting.LAYOUT.readMs(cached, latencies, Setting.CACHE_MS);
            long wanted = policy.wanted(key, Setting.LAYOUT);
            if (wanted != 0) {
                policy.add(key, Setting.LAYOUT, wanted);
            }
            freeAtMs[client] += ms;
            if (read >= 0) {
                sumMs += ms;
                hits += cached != 0 ? 1 : 0;
            }
        }
        return new Result(sumMs / Setting.READS, (double) hits / Setting.READS);
    }

    /** Which share of the requests is for the so many most popular objects. */
    double shareOf(int objects) {
        return zipf.shareOf(objects);
    }
}
