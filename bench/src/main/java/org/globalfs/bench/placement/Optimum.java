package org.globalfs.bench.placement;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The best that could have been by somebody who knows all accesses beforehand, moves each directory
 * by itself, at once and for nothing, and only has to let it stay for a while wherever he moves it.
 */
final class Optimum {

    private Optimum() {}

    /**
     * How many operations are done, second by second, in the region where their directory is then.
     *
     * @param regions their number
     * @param stay how many seconds a directory stays at least where it was moved
     */
    static long[] local(List<Access> accesses, int regions, int seconds, int stay) {
        Map<String, long[][]> byDirectory = new HashMap<>();
        for (Access access : accesses) {
            byDirectory
                            .computeIfAbsent(access.directory(), _ -> new long[regions][seconds])[
                            access.region()][access.second()] +=
                    access.operations();
        }
        long[] local = new long[seconds];
        for (long[][] operations : byDirectory.values()) {
            int[] placement = placement(operations, stay);
            for (int second = 0; second < seconds; second++) {
                local[second] += operations[placement[second]][second];
            }
        }
        return local;
    }

    /**
     * Where one directory should be in each second. The first stay may be as short as it likes, the
     * last one is cut by the end.
     *
     * @param operations by region and second
     */
    static int[] placement(long[][] operations, int stay) {
        int regions = operations.length;
        int end = operations[0].length + stay; // nothing happens at last, so that it can stay there
        long[][] before = new long[regions][end + 1];
        for (int region = 0; region < regions; region++) {
            for (int second = 0; second < end; second++) {
                long then = second < operations[region].length ? operations[region][second] : 0;
                before[region][second + 1] = before[region][second] + then;
            }
        }
        // The most until a second by a stay in a region that may end then, and where from.
        long[][] best = new long[regions][end + 1];
        int[][] from = new int[regions][end + 1];
        for (int second = 1; second <= end; second++) {
            for (int region = 0; region < regions; region++) {
                best[region][second] =
                        best[region][second - 1]
                                + before[region][second]
                                - before[region][second - 1];
                from[region][second] = region;
                int arrival = second - stay;
                for (int other = 0; other < regions && arrival > 0; other++) {
                    long moved =
                            best[other][arrival] + before[region][second] - before[region][arrival];
                    if (other != region && moved > best[region][second]) {
                        best[region][second] = moved;
                        from[region][second] = other;
                    }
                }
            }
        }
        return walkBack(best, from, end, stay);
    }

    private static int[] walkBack(long[][] best, int[][] from, int end, int stay) {
        int region = 0;
        for (int other = 1; other < best.length; other++) {
            region = best[other][end] > best[region][end] ? other : region;
        }
        int[] placement = new int[end];
        int second = end;
        while (second > 0) {
            int came = from[region][second];
            int length = came == region ? 1 : stay;
            Arrays.fill(placement, second - length, second, region);
            second -= length;
            region = came;
        }
        return Arrays.copyOf(placement, end - stay);
    }
}
