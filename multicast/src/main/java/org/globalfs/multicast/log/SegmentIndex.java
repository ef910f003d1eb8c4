package org.globalfs.multicast.log;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;

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
    private final Map<Integer, Long> bytes = new HashMap<>();

    synchronized void put(int ring, long instance, int place, int recordBytes) {
        bytes.merge(ring, (long) recordBytes, Long::sum);
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

    /** What the ring's records of instances take here. */
    synchronized long bytes(int ring) {
        return bytes.getOrDefault(ring, 0L);
    }

    /** Instances of the range that have a record here, and none in a later one of the segments. */
    long[] newest(int ring, long from, long through, Segment[] segments) {
        return present(ring, from, through)
                .filter(instance -> {
                    int last = segments.length - 1;
                    while (segments[last].index.find(ring, instance) == ABSENT) {
                        last--;
                    }
                    return segments[last].index == this;
                })
                .toArray();
    }

    private synchronized LongStream present(int ring, long from, long through) {
        LongStream.Builder found = LongStream.builder();
        for (Run run : runs.getOrDefault(ring, List.of())) {
            long end = Math.min(through, run.base + run.count - 1);
            for (long instance = Math.max(from, run.base); instance <= end; instance++) {
                if (run.find(instance) != ABSENT) {
                    found.add(instance);
                }
            }
        }
        return found.build().distinct();
    }
}
