package org.globalfs.datastore.cache.policy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The optimum, by dynamic programming over every chunk's worth of capacity: for equal chunks. */
final class ExactPlanner implements CachePlanner {
    @Override
    public CachePlan plan(
            List<Candidate> candidates,
            RegionLatencies latencies,
            double cacheMs,
            long capacityBytes) {
        int unit = candidates.getFirst().layout().chunkBytes();
        int capacity = (int) (capacityBytes / unit);
        double[] best = new double[capacity + 1];
        int[][] choice = new int[candidates.size()][capacity + 1];
        List<List<CachingOption>> all =
                candidates.stream()
                        .map(c -> CachingOption.of(c.layout(), latencies, cacheMs))
                        .toList();
        for (int i = 0; i < candidates.size(); i++) {
            double[] next = best.clone();
            for (int o = 0; o < all.get(i).size(); o++) {
                CachingOption option = all.get(i).get(o);
                int weight = option.bytes() / unit;
                double value = candidates.get(i).popularity() * option.savedMs();
                for (int w = weight; w <= capacity; w++) {
                    if (best[w - weight] + value > next[w]) {
                        next[w] = best[w - weight] + value;
                        choice[i][w] = o + 1;
                    }
                }
            }
            best = next;
        }
        Map<BlockKey, Long> chunks = new HashMap<>();
        int left = capacity;
        long bytes = 0;
        for (int i = candidates.size() - 1; i >= 0; i--) {
            if (choice[i][left] > 0) {
                CachingOption option = all.get(i).get(choice[i][left] - 1);
                chunks.put(candidates.get(i).key(), option.chunks());
                left -= option.bytes() / unit;
                bytes += option.bytes();
            }
        }
        return new CachePlan(chunks, bytes);
    }
}
