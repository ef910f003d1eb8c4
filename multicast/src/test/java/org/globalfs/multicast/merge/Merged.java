package org.globalfs.multicast.merge;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.MergePosition;

/** A learner over logs that grow: it reads what it has room for, and keeps what was delivered. */
final class Merged {

    /** An instance of a ring. */
    record Step(int ring, long instance) {}

    /** Decided instances of each ring, from 1. */
    static final class Logs {
        private final Map<Integer, List<List<Entry>>> rings = new TreeMap<>();

        void decide(int ring, Entry... entries) {
            of(ring).add(List.of(entries));
        }

        List<List<Entry>> of(int ring) {
            return rings.computeIfAbsent(ring, r -> new ArrayList<>());
        }

        /** The ring's logical position after that many instances. */
        long position(int ring, long instances) {
            long position = 0;
            for (int i = 0; i < instances; i++) {
                position = Entry.Skip.positionAfter(position, of(ring).get(i));
            }
            return position;
        }
    }

    private static final long PLENTY_BYTES = 1 << 30;

    final List<Step> steps = new ArrayList<>();

    /** The position before each step, and after the last. */
    final List<MergePosition> positions = new ArrayList<>();

    private final Logs logs;
    final RoundRobin machine;

    Merged(int group, MergePosition start, int mostInstances, Logs logs) {
        this.logs = logs;
        this.machine = new RoundRobin(group, start, mostInstances, PLENTY_BYTES);
        positions.add(start);
    }

    /** Takes at most one further instance of the ring from its log. */
    boolean read(int ring) {
        if (!machine.follows(ring) || !machine.hasRoom(ring)) {
            return false;
        }
        long next = machine.next(ring);
        List<List<Entry>> log = logs.of(ring);
        if (next > log.size()) {
            return false;
        }
        machine.offer(ring, next, log.get((int) next - 1), 1);
        return true;
    }

    /** Delivers one instance if it can. */
    boolean step() {
        RoundRobin.Delivered next = machine.next();
        if (next == null) {
            return false;
        }
        steps.add(new Step(next.ring(), next.instance()));
        positions.add(machine.position());
        return true;
    }

    /** Reads and delivers until nothing more can be delivered. */
    void finish() {
        boolean some = true;
        while (some) {
            some = false;
            for (int ring : machine.rings()) {
                some |= read(ring);
            }
            while (step()) {
                some = true;
            }
        }
    }

    MergePosition position() {
        return positions.getLast();
    }
}
