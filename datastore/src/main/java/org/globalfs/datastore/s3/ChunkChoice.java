package org.globalfs.datastore.s3;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/** Which chunks of a coded block are read first. */
final class ChunkChoice {
    /** Farther by less than this, and than half, is not clearly farther. */
    private static final long CLEARLY_NS = TimeUnit.MILLISECONDS.toNanos(10);

    /** So many times the bytes may be read where that is sooner, or so many, if that is more. */
    private static final int MOST_TIMES = 2;

    private static final int MOST_BYTES = 256 << 10;

    private ChunkChoice() {}

    /**
     * The data chunks that are wanted, or as many others of the nearest as it takes to decode those
     * where some are clearly farther than these.
     *
     * @param wanted data chunks that lack: a bit by chunk index
     * @param others that may be read as well
     * @param enough to decode all
     * @param waysNs how long it takes to have the first byte of each, by index, or {@link
     *     RequestTime#UNKNOWN}
     * @param width bytes of each that are read
     */
    static List<Integer> of(long wanted, long others, int enough, long[] waysNs, int width) {
        List<Integer> nearest = nearestOf(wanted | others, wanted, waysNs);
        List<Integer> direct = nearestOf(wanted, wanted, waysNs);
        direct = direct.subList(0, Math.min(enough, direct.size()));
        boolean known = nearest.stream().allMatch(c -> waysNs[c] != RequestTime.UNKNOWN);
        if (!known || direct.isEmpty() || nearest.size() < enough) {
            return direct;
        }
        List<Integer> near = nearest.subList(0, enough);
        long nearNs = waysNs[near.getLast()];
        long directNs = waysNs[direct.getLast()];
        boolean clearly = directNs - nearNs > Math.max(CLEARLY_NS, nearNs / 2);
        long most = Math.max(MOST_BYTES, (long) MOST_TIMES * direct.size() * width);
        return clearly && (long) enough * width <= most ? near : direct;
    }

    /** Of those that are as near, the wanted ones first. */
    private static List<Integer> nearestOf(long chunks, long wanted, long[] waysNs) {
        return IntStream.range(0, waysNs.length)
                .filter(c -> (chunks >>> c & 1) == 1)
                .boxed()
                .sorted(
                        Comparator.comparingLong((Integer c) -> waysNs[c])
                                .thenComparing(c -> (wanted >>> c & 1) == 0)
                                .thenComparing(Comparator.naturalOrder()))
                .toList();
    }
}
