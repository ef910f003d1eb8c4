package org.globalfs.replica.service;

import org.globalfs.protocol.config.Roles.ReplicaRole;
import org.globalfs.protocol.rpc.RpcServer;
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
 * @param sweepPeriodMs from one search for blocks that no file has to the next; 0: never
 * @param sweepGraceMs how old those have to be
 * @param followBytesPerSecond the most that is copied of files that were moved here; 0: nothing
 * @param mostLockWaits how many calls may wait for locks at a time; further ones are answered at
 *     once
 * @param heapBytes this replica's share of the process's heap
 */
public record ReplicaOptions(
        StateOptions state,
        int logSegmentBytes,
        long logRetainedBytes,
        long flushBytes,
        long flushMs,
        long voteTimeoutMs,
        long sweepPeriodMs,
        long sweepGraceMs,
        long followBytesPerSecond,
        int mostLockWaits,
        long heapBytes) {

    private static final int DEFAULT_MOST_LOCK_WAITS = RpcServer.DEFAULT_MAX_CONNECTIONS / 4;
    private static final int PIECES_IN_RESERVE = 64;
    private static final int RETAINED_PIECES = 4;
    private static final long LEAST_PIECE_BYTES = 1 << 20;

    public static ReplicaOptions defaults() {
        return new ReplicaOptions(
                StateOptions.defaults(),
                16 << 20,
                64L << 20,
                16L << 20,
                30_000,
                10_000,
                ReplicaRole.DEFAULT_SWEEP_PERIOD_MS,
                ReplicaRole.DEFAULT_SWEEP_GRACE_MS,
                ReplicaRole.DEFAULT_FOLLOW_BYTES_PER_SECOND,
                DEFAULT_MOST_LOCK_WAITS,
                Runtime.getRuntime().maxMemory());
    }

    /** The same with another search for blocks that no file has. */
    public ReplicaOptions sweeping(long periodMs, long graceMs) {
        return new ReplicaOptions(
                state,
                logSegmentBytes,
                logRetainedBytes,
                flushBytes,
                flushMs,
                voteTimeoutMs,
                periodMs,
                graceMs,
                followBytesPerSecond,
                mostLockWaits,
                heapBytes);
    }

    /** The same with another bound on how fast content follows files that were moved. */
    public ReplicaOptions following(long bytesPerSecond) {
        return new ReplicaOptions(
                state,
                logSegmentBytes,
                logRetainedBytes,
                flushBytes,
                flushMs,
                voteTimeoutMs,
                sweepPeriodMs,
                sweepGraceMs,
                bytesPerSecond,
                mostLockWaits,
                heapBytes);
    }

    /** The same with another bound on how many wait for locks at a time. */
    ReplicaOptions waiting(int lockWaits) {
        return new ReplicaOptions(
                state,
                logSegmentBytes,
                logRetainedBytes,
                flushBytes,
                flushMs,
                voteTimeoutMs,
                sweepPeriodMs,
                sweepGraceMs,
                followBytesPerSecond,
                lockWaits,
                heapBytes);
    }

    /** The same for one of several replicas in a process. */
    public ReplicaOptions sharing(int replicas) {
        return new ReplicaOptions(
                state,
                logSegmentBytes,
                logRetainedBytes,
                flushBytes,
                flushMs,
                voteTimeoutMs,
                sweepPeriodMs,
                sweepGraceMs,
                followBytesPerSecond,
                mostLockWaits,
                heapBytes / replicas);
    }

    /**
     * The same in smaller pieces, when the disk's reserve asks for that: it must have room for
     * several log segments and flushes at a time, and of nine replicas where a whole cluster is on
     * one disk.
     */
    ReplicaOptions within(long reservedBytes) {
        long piece = Math.max(LEAST_PIECE_BYTES, reservedBytes / PIECES_IN_RESERVE);
        return new ReplicaOptions(
                state,
                (int) Math.min(logSegmentBytes, piece),
                Math.min(logRetainedBytes, RETAINED_PIECES * piece),
                Math.min(flushBytes, piece),
                flushMs,
                voteTimeoutMs,
                sweepPeriodMs,
                sweepGraceMs,
                followBytesPerSecond,
                mostLockWaits,
                heapBytes);
    }
}
