package org.globalfs.multicast.sim;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.merge.RoundRobin;

/**
 * What all round-robin learners of a group must deliver, worked out from all that was ever decided:
 * of the rings followed, whichever next instance is first in the one order by (round, ring).
 */
final class MergeOrder {

    /** A ring's decided instances, and the logical positions after them. */
    static final class Log {
        private final List<Batch> batches = new ArrayList<>();
        private final List<Long> ends = new ArrayList<>(List.of(0L));

        void decided(Batch batch) {
            batches.add(batch);
            ends.add(Entry.Skip.positionAfter(ends.getLast(), batch.entries()));
        }
    }

    private record Place(long round, int ring) {
        boolean before(Place other) {
            return round != other.round ? round < other.round : ring < other.ring;
        }
    }

    private record Step(int ring, long instance) {}

    private static final class Cursor {
        private long instance;
        private Place since = new Place(-1, -1);
    }

    private final int group;
    private final int turn;
    private final Map<Integer, Log> logs;
    private final Map<Integer, Cursor> followed = new TreeMap<>();
    private final List<Step> steps = new ArrayList<>();
    private Place last = new Place(-1, -1);

    MergeOrder(int group, int turn, Map<Integer, Log> logs) {
        this.group = group;
        this.turn = turn;
        this.logs = logs;
        followed.put(0, new Cursor());
        followed.put(group, new Cursor());
    }

    /** A learner's next delivery. */
    void delivered(int process, int index, RoundRobin.Delivered what) {
        Step step = new Step(what.ring(), what.instance());
        Checker.check(
                index <= steps.size(), "group " + group + ": process " + process + " is ahead");
        if (index == steps.size()) {
            steps.add(next());
        }
        if (!steps.get(index).equals(step)) {
            throw new Checker.Violation(
                    "group "
                            + group
                            + ": process "
                            + process
                            + " merges "
                            + step
                            + " as number "
                            + index
                            + ", due is "
                            + steps.get(index));
        }
    }

    static boolean empty(Batch batch) {
        return batch.entries().stream()
                .allMatch(entry -> entry instanceof Entry.Skip || entry instanceof Entry.Noop);
    }

    private Log log(int ring) {
        return logs.computeIfAbsent(ring, r -> new Log());
    }

    /** Where the ring's next instance is in the order of everything. */
    private Place place(int ring) {
        long before = log(ring).ends.get((int) cursor(ring).instance);
        return new Place(before / turn, ring);
    }

    private Cursor cursor(int ring) {
        Cursor cursor = followed.get(ring);
        if (cursor == null) {
            throw new Checker.Violation("group " + group + " does not follow ring " + ring);
        }
        return cursor;
    }

    private Step next() {
        while (true) {
            int ring = first();
            Place place = place(ring);
            Cursor cursor = cursor(ring);
            Checker.check(
                    cursor.instance < log(ring).batches.size(),
                    "group " + group + " does not wait for ring " + ring);
            Batch batch = log(ring).batches.get((int) cursor.instance);
            cursor.instance++;
            if (cursor.since.before(place)) {
                Checker.check(!place.before(last), "group " + group + ": the order turns back");
                last = place;
                subscriptions(batch, place);
                return new Step(ring, cursor.instance);
            }
        }
    }

    private int first() {
        Place first = new Place(Long.MAX_VALUE, 0);
        for (int ring : followed.keySet()) {
            Place place = place(ring);
            first = place.before(first) ? place : first;
        }
        return first.ring;
    }

    private void subscriptions(Batch batch, Place place) {
        for (Entry entry : batch.entries()) {
            if (entry instanceof Entry.Subscription change && change.group() == group) {
                if (!change.follows() && followed.size() > 1) {
                    followed.remove(change.ring());
                } else if (change.follows() && !followed.containsKey(change.ring())) {
                    Cursor cursor = new Cursor();
                    cursor.instance = change.instance();
                    cursor.since = place;
                    followed.put(change.ring(), cursor);
                }
            }
        }
    }
}
