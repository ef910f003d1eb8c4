package org.globalfs.datastore.cache.policy;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A set of a block's chunks that may be kept (thesis 5.4.1).
 *
 * @param chunks a bit by chunk index
 * @param bytes the weight
 * @param savedMs how much sooner a read ends; times the block's popularity that is the value
 */
public record CachingOption(long chunks, int bytes, double savedMs) {

    /**
     * The options of a block, lightest first: the m farthest chunks, which no read needs, are left
     * out, and the others are taken from the farthest inwards. Only options that save more than all
     * lighter ones: to drop the last but one chunk of a region saves nothing.
     */
    public static List<CachingOption> of(
            ChunkLayout layout, RegionLatencies latencies, double cacheMs) {
        List<Integer> far =
                IntStream.range(0, layout.regions().size())
                        .boxed()
                        .sorted(
                                Comparator.comparingDouble((Integer chunk) ->
                                                latencies.ms(layout.regions().get(chunk)))
                                        .thenComparingInt(chunk -> chunk))
                        .limit(layout.dataChunks())
                        .toList()
                        .reversed();
        double without = layout.readMs(0, latencies, cacheMs);
        List<CachingOption> options = new ArrayList<>();
        long chunks = 0;
        double best = 0;
        for (int chunk : far) {
            chunks |= 1L << chunk;
            double saved = without - layout.readMs(chunks, latencies, cacheMs);
            if (saved > best) {
                best = saved;
                options.add(
                        new CachingOption(
                                chunks, Long.bitCount(chunks) * layout.chunkBytes(), saved));
            }
        }
        return options;
    }
}
