package org.globalfs.datastore.cache.policy;

import java.util.HashMap;
import java.util.Map;

/**
 * How long reading a chunk takes, by region, as an exponentially weighted moving average (Agar's
 * region manager). Not thread-safe.
 */
public final class RegionLatencies {
    private static final double WEIGHT_OF_NEW = 0.2;

    private final Map<Integer, Double> ms = new HashMap<>();
    private final double unknownMs;

    /**
     * @param unknownMs of regions that nothing was read from yet
     */
    public RegionLatencies(double unknownMs) {
        this.unknownMs = unknownMs;
    }

    /** A chunk of the region was read. */
    public void observe(int region, double tookMs) {
        ms.merge(region, tookMs, (old, now) -> old + WEIGHT_OF_NEW * (now - old));
    }

    /** Whether a chunk of the region was read. */
    public boolean knows(int region) {
        return ms.containsKey(region);
    }

    public double ms(int region) {
        return ms.getOrDefault(region, unknownMs);
    }
}
