package org.globalfs.bench.agar;

import java.util.List;
import java.util.stream.IntStream;
import org.globalfs.datastore.cache.policy.ChunkLayout;
import org.globalfs.datastore.cache.policy.RegionLatencies;

/**
 * What is simulated: by default the paper's setting (thesis 5.5.1), 300 objects of 1 MB, RS(9,3)
 * with two chunks in each of six regions, read from Frankfurt by two clients.
 *
 * @param skew of the Zipf distribution that requests follow; 0: uniform
 * @param cacheMegabytes capacity of the cache
 * @param warmUpReads that go before those that are measured
 */
public record Setting(double skew, double cacheMegabytes, int warmUpReads) {
    static final int OBJECTS = 300;
    static final int DATA_CHUNKS = 9;
    static final int CHUNKS = 12;
    static final int OBJECT_BYTES = 1_000_000;
    static final int CLIENTS = 2;
    static final int READS = 1_000;
    static final int RUNS = 5;
    static final double PERIOD_MS = 30_000;

    /** How long a read takes that needs nothing but the cache. */
    static final double CACHE_MS = 20;

    static final List<String> REGIONS =
            List.of("Frankfurt", "Dublin", "N. Virginia", "Sao Paulo", "Tokyo", "Sydney");

    /** Thesis, table 5.1. */
    private static final double[] FRANKFURT_MS = {80, 200, 600, 1400, 3400, 4600};

    private static final int CHUNK_BYTES = OBJECT_BYTES / DATA_CHUNKS;

    static final ChunkLayout LAYOUT =
            new ChunkLayout(
                    CHUNK_BYTES,
                    DATA_CHUNKS,
                    IntStream.range(0, CHUNKS).map(i -> i % REGIONS.size()).boxed().toList());

    static RegionLatencies latencies() {
        RegionLatencies latencies = new RegionLatencies(1_000);
        for (int region = 0; region < FRANKFURT_MS.length; region++) {
            latencies.observe(region, FRANKFURT_MS[region]);
        }
        return latencies;
    }

    /** How long getting a chunk takes from a client in Frankfurt, by region. */
    static double frankfurtMs(int region) {
        return FRANKFURT_MS[region];
    }

    /** So many whole objects' worth of chunks fit into a megabyte. */
    long capacityChunks() {
        return Math.round(cacheMegabytes * DATA_CHUNKS);
    }

    long capacityBytes() {
        return capacityChunks() * CHUNK_BYTES;
    }
}
