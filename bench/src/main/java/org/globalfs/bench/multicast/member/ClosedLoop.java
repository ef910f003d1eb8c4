package org.globalfs.bench.multicast.member;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.HdrHistogram.Histogram;

/**
 * Load with a fixed number of values outstanding: each that is acknowledged makes room for the
 * next. A value that a fail-over may have lost is proposed again under an id of its own, so that
 * every delivery can be told apart.
 */
final class ClosedLoop implements AutoCloseable {
    private static final int FREE = -1;
    private static final long LONGEST_NS = 60_000_000_000L;
    private static final long TICK_NS = 500_000;

    private final MeasuredLog log;
    private final int origin;
    private final long firstSequence;
    private final int sizeBytes;
    private final long retryNs;
    private final long pauseNs;
    private final LongConsumer announce;
    private final Thread ticker;

    // guarded by this
    private final long[] sequences;
    private final int[] attempts;
    private final long[] firstProposedNs;
    private final long[] proposedNs;
    private final boolean[] resting;
    private final Histogram latenciesNs = new Histogram(LONGEST_NS, 3);
    private int coordinator;
    private long markedNs;
    private long lastNs;
    private long longestGapNs;
    private volatile boolean stopped;

    /**
     * @param firstSequence above that of every earlier load of this origin
     * @param retryNs after which a value without acknowledgement is proposed again
     * @param pauseNs from an acknowledgement to the next value, about
     * @param announce told the id of each acknowledged value
     */
    ClosedLoop(
            MeasuredLog log,
            int origin,
            long firstSequence,
            int outstanding,
            int sizeBytes,
            long retryNs,
            long pauseNs,
            LongConsumer announce) {
        this.log = log;
        this.origin = origin;
        this.firstSequence = firstSequence;
        this.sizeBytes = Math.max(sizeBytes, Values.LEAST_BYTES);
        this.retryNs = retryNs;
        this.pauseNs = pauseNs;
        this.announce = announce;
        sequences = new long[outstanding];
        attempts = new int[outstanding];
        firstProposedNs = new long[outstanding];
        proposedNs = new long[outstanding];
        resting = new boolean[outstanding];
        ticker = Thread.ofPlatform().name("load").daemon().unstarted(this::tick);
    }

    synchronized void start() {
        coordinator = log.coordinator();
        long now = System.nanoTime();
        lastNs = now;
        markedNs = now;
        for (int slot = 0; slot < sequences.length; slot++) {
            next(slot, firstSequence + slot, now);
        }
        ticker.start();
    }

    synchronized void acknowledged(long id) {
        if (stopped || Values.origin(id) != origin) {
            return;
        }
        long sequence = Values.sequence(id);
        if (sequence < firstSequence) {
            return;
        }
        int slot = (int) ((sequence - firstSequence) % sequences.length);
        if (sequences[slot] != sequence) {
            return; // an earlier attempt's delivery had made room already
        }
        long now = System.nanoTime();
        latenciesNs.recordValue(Math.min(LONGEST_NS, now - firstProposedNs[slot]));
        longestGapNs = Math.max(longestGapNs, now - lastNs);
        lastNs = now;
        announce.accept(id);
        if (pauseNs == 0) {
            next(slot, sequence + sequences.length, now);
        } else {
            sequences[slot] = sequence + sequences.length;
            resting[slot] = true;
            firstProposedNs[slot] = now + pauseNs;
        }
    }

    private void next(int slot, long sequence, long now) {
        sequences[slot] = sequence;
        attempts[slot] = FREE;
        firstProposedNs[slot] = now;
        propose(slot, now);
    }

    private void propose(int slot, long now) {
        int attempt = attempts[slot] + 1;
        byte[] value = Values.value(Values.id(origin, attempt, sequences[slot]), sizeBytes);
        if (log.propose(value)) {
            attempts[slot] = attempt;
            proposedNs[slot] = now;
        } else {
            proposedNs[slot] = now - retryNs;
        }
    }

    private void tick() {
        while (!stopped) {
            LockSupport.parkNanos(TICK_NS);
            retry();
        }
    }

    private synchronized void retry() {
        int current = log.coordinator();
        boolean changed = current != MeasuredLog.NONE && current != coordinator;
        if (current != MeasuredLog.NONE) {
            coordinator = current;
        }
        long now = System.nanoTime();
        for (int slot = 0; slot < sequences.length && !stopped; slot++) {
            if (resting[slot]) {
                if (now >= firstProposedNs[slot]) {
                    resting[slot] = false;
                    next(slot, sequences[slot], now);
                }
            } else if (changed || now - proposedNs[slot] >= retryNs) {
                propose(slot, now);
            }
        }
    }

    /** Forgets what was measured so far. */
    synchronized void mark() {
        latenciesNs.reset();
        longestGapNs = 0;
        markedNs = System.nanoTime();
        lastNs = markedNs;
    }

    /** What was measured since {@link #mark}. */
    synchronized String measured() {
        long now = System.nanoTime();
        return "acknowledged=%d elapsedNs=%d p50Ns=%d p99Ns=%d maxNs=%d longestGapNs=%d"
                .formatted(
                        latenciesNs.getTotalCount(),
                        now - markedNs,
                        latenciesNs.getValueAtPercentile(50),
                        latenciesNs.getValueAtPercentile(99),
                        latenciesNs.getMaxValue(),
                        Math.max(longestGapNs, now - lastNs));
    }

    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(ticker);
    }
}
