package org.globalfs.datastore.cache.policy;

import java.util.List;

/** Chooses what the cache keeps (Agar's cache manager). */
public interface CachePlanner {
    /**
     * The plan of highest value, or near it: each block's popularity times the latency that its
     * chosen option saves, all of them together no larger than the capacity.
     */
    CachePlan plan(
            List<Candidate> candidates,
            RegionLatencies latencies,
            double cacheMs,
            long capacityBytes);
}
