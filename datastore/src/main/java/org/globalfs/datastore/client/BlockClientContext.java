package org.globalfs.datastore.client;

import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.config.BlockStorage;

/**
 * What the operations of one block client share.
 *
 * @param writable which regions take chunks now
 * @param readTimes of reads from storage nodes
 * @param nodeTimes of each of them
 * @param caches of the region where it is
 */
record BlockClientContext(
        NodeDirectory directory,
        FailureDetector detector,
        WritableRegions writable,
        NewerEpochs newerEpochs,
        Distances distances,
        Options options,
        ReadTimes readTimes,
        NodeTimes nodeTimes,
        RegionCaches caches) {

    /**
     * Limits of a block client.
     *
     * @param requestTimeoutNs a node that does not answer within this is suspect
     * @param deadlineNs an operation takes at most this
     * @param lanes operations at once; more wait for their turn
     * @param cacheBeyondNs what is nearer is not read through a cache
     * @param toleratedLosses {@link BlockStorage#toleratedLosses}
     * @param background nobody waits for what is asked for
     */
    record Options(
            long requestTimeoutNs,
            long deadlineNs,
            int lanes,
            long cacheBeyondNs,
            int toleratedLosses,
            boolean background) {

        Options(long requestTimeoutNs, long deadlineNs, int lanes) {
            this(
                    requestTimeoutNs,
                    deadlineNs,
                    lanes,
                    TimeUnit.MILLISECONDS.toNanos(BlockStorage.DEFAULT_CACHE_BEYOND_MS),
                    BlockStorage.DEFAULT_TOLERATED_LOSSES,
                    false);
        }

        static Options defaults() {
            return new Options(TimeUnit.SECONDS.toNanos(2), TimeUnit.SECONDS.toNanos(30), 32);
        }

        static Options of(BlockStorage storage) {
            Options usual = defaults();
            return new Options(
                    usual.requestTimeoutNs,
                    usual.deadlineNs,
                    usual.lanes,
                    TimeUnit.MILLISECONDS.toNanos(storage.cacheBeyondMs()),
                    storage.toleratedLosses(),
                    false);
        }

        Options inBackground() {
            return new Options(
                    requestTimeoutNs, deadlineNs, lanes, cacheBeyondNs, toleratedLosses, true);
        }
    }
}
