package org.globalfs.client.fuse;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/** How many requests of each kind were served, how many failed, and how long they took. */
public final class OperationStatistics {

    /** One kind of request; times are of the file system's work, without the kernel's part. */
    public record Count(
            String operation, long requests, long errors, long totalNs, long longestNs) {}

    private static final class Counter {
        final LongAdder requests = new LongAdder();
        final LongAdder errors = new LongAdder();
        final LongAdder totalNs = new LongAdder();
        final LongAccumulator longestNs = new LongAccumulator(Math::max, 0);
    }

    private final Map<Opcode, Counter> counters = new EnumMap<>(Opcode.class);
    private final LongAdder timeouts = new LongAdder();
    private final LongAdder interrupts = new LongAdder();

    OperationStatistics() {
        for (Opcode opcode : Opcode.values()) {
            counters.put(opcode, new Counter());
        }
    }

    void count(Opcode opcode, int errno, long elapsedNs) {
        Counter counter = counters.get(opcode);
        if (counter == null) {
            return;
        }
        counter.requests.increment();
        if (errno != 0) {
            counter.errors.increment();
        }
        counter.totalNs.add(elapsedNs);
        counter.longestNs.accumulate(elapsedNs);
    }

    void countTimeout() {
        timeouts.increment();
    }

    void countInterrupt() {
        interrupts.increment();
    }

    /** Requests answered EIO because their deadline had passed. */
    public long timeouts() {
        return timeouts.sum();
    }

    /** Requests answered EINTR because their process was killed. */
    public long interrupts() {
        return interrupts.sum();
    }

    /**
     * Kinds that have occurred, in the protocol's order; names as in {@code linux/fuse.h} without
     * prefix.
     */
    public List<Count> counts() {
        return counters.entrySet().stream()
                .filter(e -> e.getValue().requests.sum() > 0)
                .map(e ->
                        new Count(
                                e.getKey().name(),
                                e.getValue().requests.sum(),
                                e.getValue().errors.sum(),
                                e.getValue().totalNs.sum(),
                                e.getValue().longestNs.get()))
                .toList();
    }
}
