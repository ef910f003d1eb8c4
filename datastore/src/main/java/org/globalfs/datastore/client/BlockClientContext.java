package org.globalfs.datastore.client;

import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.config.BlockStorage;

/**
 * What the operations of one block client share.
 *
 * @param region where it is
 * @param readTimes of reads from storage nodes
 * @param nodeTimes of each of them
 * @param cacheTimes of those from the region's caches
 */
record BlockClientContext(
        String region,
        NodeDirectory directory,
        FailureDetector detector,
        Distances distances,
        Options options,
        ReadTimes readTimes,
        NodeTimes nodeTimes,
        CacheTimes cacheTimes) {

    /**
     * Limits of a block client.
     *
     * @param requestTimeoutNs a node that does not answer within this is suspect
     * @param deadlineNs an operation takes at most this
     * @param lanes operations at once; more wait for their turn
     * @param cacheBeyondNs what is nearer is not read through a cache
     * @param background nobody waits for what is asked for
     */
    record Options(
            long requestTimeoutNs,
            long deadlineNs,
            int lanes,
            long cacheBeyondNs,
            boolean background) {
        private static final long CACHE_BEYOND_NS =
                TimeUnit.MILLISECONDS.toNanos(BlockStorage.DEFAULT_CACHE_BEYOND_MS);

        Options(long requestTimeoutNs, long deadlineNs, int lanes) {
            this(requestTimeoutNs, deadlineNs, lanes, CACHE_BEYOND_NS, false);
        }

        static Options defaults() {
            return new Options(TimeUnit.SECONDS.toNanos(2), TimeUnit.SECONDS.toNanos(30), 32);
        }

        Options cachedBeyond(long ns) {
            return new Options(requestTimeoutNs, deadlineNs, lanes, ns, background);
        }

        Options inBackground() {
            return new Options(requestTimeoutNs, deadlineNs, lanes, cacheBeyondNs, true);
        }
    }
}
