package org.globalfs.multicast.log;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Where in one segment each instance's newest record starts: four bytes an instance. Filled by the
 * log's writer, read by any thread.
 */
final class SegmentIndex {
    static final int ABSENT = -1;

    /** A jump larger than this starts a new run instead of filling the gap. */
    private static final int MAX_GAP = 4096;

    /** Places of consecutive instances from {@code base}. */
    private static final class Run {
        long base;
        int[] places = new int[64];
        int count;

        Run(long base) {
            this.base = base;
        }

        boolean reaches(long instance) {
            return instance >= base - MAX_GAP && instance < base + count + MAX_GAP;
        }

        void put(long instance, int place) {
            if (instance < base) {
                int shift = Math.toIntExact(base - instance);
                int[] wider = new int[Math.max(places.length, count + shift)];
                Arrays.fill(wider, 0, shift, ABSENT);
                System.arraycopy(places, 0, wider, shift, count);
                places = wider;
                base = instance;
                count += shift;
            }
            int at = Math.toIntExact(instance - base);
            if (at >= places.length) {
                places = Arrays.copyOf(places, Math.max(at + 1, places.length * 2));
            }
            if (at >= count) {
                Arrays.fill(places, count, at, ABSENT);
                count = at + 1;
            }
            places[at] = place;
        }

        int find(long instance) {
            long at = instance - base;
            return at >= 0 && at < count ? places[(int) at] : ABSENT;
        }
    }

    private final Map<Integer, List<Run>> runs = new HashMap<>();
    private final Map<Integer, Long> highest = new HashMap<>();

    synchronized void put(int ring, long instance, int place) {
        List<Run> ofRing = runs.computeIfAbsent(ring, r -> new ArrayList<>(1));
        highest.merge(ring, instance, Math::max);
        for (int i = ofRing.size() - 1; i >= 0; i--) {
            if (ofRing.get(i).reaches(instance)) {
                ofRing.get(i).put(instance, place);
                return;
            }
        }
        Run run = new Run(instance);
        run.put(instance, place);
        ofRing.add(run);
    }

    synchronized int find(int ring, long instance) {
        List<Run> ofRing = runs.get(ring);
        if (ofRing == null) {
            return ABSENT;
        }
        int found = ABSENT;
        // Runs that grew towards each other may both hold the instance: a later place is a newer
        // record.
        for (Run run : ofRing) {
            found = Math.max(found, run.find(instance));
        }
        return found;
    }

    /** Highest instance per ring that has a record here. */
    synchronized Map<Integer, Long> highest() {
        return Map.copyOf(highest);
    }
}
