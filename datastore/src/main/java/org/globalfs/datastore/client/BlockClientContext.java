package org.globalfs.datastore.client;

import java.util.concurrent.TimeUnit;

/**
 * What the operations of one block client share.
 *
 * @param region where it is
 * @param readTimes of reads from storage nodes
 * @param cacheTimes of those from the region's caches
 */
record BlockClientContext(
        String region,
        NodeDirectory directory,
        FailureDetector detector,
        Distances distances,
        Options options,
        ReadTimes readTimes,
        CacheTimes cacheTimes) {

    /**
     * Limits of a block client.
     *
     * @param requestTimeoutNs a node that does not answer within this is suspect
     * @param deadlineNs an operation takes at most this
     * @param lanes operations at once; more wait for their turn
     */
    record Options(long requestTimeoutNs, long deadlineNs, int lanes) {
        static Options defaults() {
            return new Options(TimeUnit.SECONDS.toNanos(2), TimeUnit.SECONDS.toNanos(30), 32);
        }
    }
}
