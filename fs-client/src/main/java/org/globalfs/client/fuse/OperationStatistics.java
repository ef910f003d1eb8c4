package org.globalfs.client.fuse;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * How many requests of each kind were served, how many failed, how long they took, and how many
 * bytes of content went through. Thread-safe.
 */
public final class OperationStatistics {

    /**
     * One kind of request. Times are of the file system's work, without the kernel's part, within 1
     * %.
     *
     * @param operation as in {@code linux/fuse.h}, without prefix
     */
    public record Count(
            String operation,
            long requests,
            long errors,
            long totalNs,
            long p50Ns,
            long p99Ns,
            long longestNs) {}

    private static final long LEAST_NS = 1_000;
    private static final long MOST_NS = 600_000_000_000L;
    private static final int DIGITS = 2;

    private static final class Counter {
        final LongAdder errors = new LongAdder();
        final LongAdder totalNs = new LongAdder();
        final Histogram times = new ConcurrentHistogram(LEAST_NS, MOST_NS, DIGITS);
    }

    private final Map<Opcode, Counter> counters = new ConcurrentSkipListMap<>();
    private final LongAdder timeouts = new LongAdder();
    private final LongAdder interrupts = new LongAdder();
    private final LongAdder bytesRead = new LongAdder();
    private final LongAdder bytesWritten = new LongAdder();

    public OperationStatistics() {}

    /** A request was served; {@code errno} 0: with success. */
    public void count(Opcode opcode, int errno, long elapsedNs) {
        Counter counter = counters.get(opcode);
        if (counter == null) {
            counter = counters.computeIfAbsent(opcode, first -> new Counter());
        }
        if (errno != 0) {
            counter.errors.increment();
        }
        counter.totalNs.add(elapsedNs);
        counter.times.recordValue(Math.clamp(elapsedNs, 1, MOST_NS));
    }

    public void countRead(long bytes) {
        bytesRead.add(bytes);
    }

    public void countWritten(long bytes) {
        bytesWritten.add(bytes);
    }

    public void countTimeout() {
        timeouts.increment();
    }

    public void countInterrupt() {
        interrupts.increment();
    }

    /** Content that programs read through the kernel, but for what it had cached. */
    public long bytesRead() {
        return bytesRead.sum();
    }

    public long bytesWritten() {
        return bytesWritten.sum();
    }

    /** Requests answered EIO because their deadline had passed. */
    public long timeouts() {
        return timeouts.sum();
    }

    /** Requests answered EINTR because their process was killed. */
    public long interrupts() {
        return interrupts.sum();
    }

    /** Kinds that have occurred, in the protocol's order. */
    public List<Count> counts() {
        return counters.entrySet().stream()
                .map(entry -> count(entry.getKey(), entry.getValue()))
                .toList();
    }

    private static Count count(Opcode opcode, Counter counter) {
        Histogram times = counter.times.copy();
        return new Count(
                opcode.name(),
                times.getTotalCount(),
                counter.errors.sum(),
                counter.totalNs.sum(),
                times.getValueAtPercentile(50),
                times.getValueAtPercentile(99),
                times.getMaxValue());
    }
}
