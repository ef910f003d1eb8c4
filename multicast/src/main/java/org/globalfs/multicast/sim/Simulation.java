package org.globalfs.multicast.sim;

import java.util.PriorityQueue;
import java.util.SplittableRandom;

/**
 * Simulated time: events in order of time, chance from one seed, and a hash of everything that
 * happened.
 */
final class Simulation {

    static final long MS = 1_000_000L;
    static final long SECOND = 1_000 * MS;

    private record Event(long atNs, long sequence, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return atNs != other.atNs
                    ? Long.compare(atNs, other.atNs)
                    : Long.compare(sequence, other.sequence);
        }
    }

    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final SplittableRandom random;
    private long nowNs;
    private long sequence;
    private long hash = 0xcbf29ce484222325L;

    Simulation(long seed) {
        this.random = new SplittableRandom(seed);
    }

    long nowNs() {
        return nowNs;
    }

    void at(long timeNs, Runnable action) {
        events.add(new Event(Math.max(timeNs, nowNs), sequence++, action));
    }

    void after(long delayNs, Runnable action) {
        at(nowNs + delayNs, action);
    }

    void runUntil(long timeNs) {
        for (Event next = events.peek();
                next != null && next.atNs() <= timeNs;
                next = events.peek()) {
            events.remove();
            nowNs = next.atNs();
            next.action().run();
        }
        nowNs = timeNs;
    }

    /** Folds what happened into the run's hash. */
    void note(int kind, long a, long b) {
        hash = (hash ^ nowNs) * 0x100000001b3L;
        hash = (hash ^ kind) * 0x100000001b3L;
        hash = (hash ^ a) * 0x100000001b3L;
        hash = (hash ^ b) * 0x100000001b3L;
    }

    long hash() {
        return hash;
    }

    long events() {
        return sequence;
    }

    int below(int bound) {
        return random.nextInt(bound);
    }

    long between(long low, long high) {
        return random.nextLong(low, high + 1);
    }

    boolean chance(double probability) {
        return random.nextDouble() < probability;
    }

    /** Exponentially distributed. */
    long around(long meanNs) {
        return (long) (-Math.log(1 - random.nextDouble()) * meanNs);
    }
}
