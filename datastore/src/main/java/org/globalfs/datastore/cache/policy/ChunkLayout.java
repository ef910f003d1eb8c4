package org.globalfs.datastore.cache.policy;

import java.util.List;

/**
 * Where a block's chunks are.
 *
 * @param chunkBytes size of each
 * @param dataChunks how many of them give the block back
 * @param regions the region of each, by chunk index; at most 64
 */
public record ChunkLayout(int chunkBytes, int dataChunks, List<Integer> regions) {
    public ChunkLayout {
        regions = List.copyOf(regions);
        if (dataChunks < 1 || dataChunks > regions.size() || regions.size() > Long.SIZE) {
            throw new IllegalArgumentException(
                    dataChunks + " data chunks of " + regions.size() + " chunks");
        }
    }

    /**
     * How long a read takes that gets these chunks from the cache and the nearest others, in
     * parallel, from their regions.
     *
     * @param cached a bit by chunk index
     * @param cacheMs how long the cache takes
     */
    public double readMs(long cached, RegionLatencies latencies, double cacheMs) {
        int left = dataChunks - Long.bitCount(cached);
        double[] others = new double[regions.size()];
        int count = 0;
        for (int chunk = 0; chunk < regions.size(); chunk++) {
            if ((cached >>> chunk & 1) == 0) {
                others[count++] = latencies.ms(regions.get(chunk));
            }
        }
        java.util.Arrays.sort(others, 0, count);
        double slowest = left > 0 ? others[left - 1] : 0;
        return cached == 0 ? slowest : Math.max(slowest, cacheMs);
    }
}
