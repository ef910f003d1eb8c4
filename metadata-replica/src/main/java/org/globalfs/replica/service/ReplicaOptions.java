package org.globalfs.replica.service;

import org.globalfs.replica.state.store.StateOptions;

/**
 * A replica's limits and periods.
 *
 * @param state for each partition
 * @param logSegmentBytes size that log segments grow to
 * @param logRetainedBytes how much of the newest log is kept beyond need, for peers that lag
 * @param flushBytes executed commands after which state is flushed to disk
 * @param flushMs time after which it is flushed even if little was executed
 * @param voteTimeoutMs a coordinated operation whose votes are not all there by then is aborted
 */
public record ReplicaOptions(
        StateOptions state,
        int logSegmentBytes,
        long logRetainedBytes,
        long flushBytes,
        long flushMs,
        long voteTimeoutMs) {

    public static ReplicaOptions defaults() {
        return new ReplicaOptions(
                StateOptions.defaults(), 16 << 20, 64L << 20, 16L << 20, 30_000, 10_000);
    }
}
