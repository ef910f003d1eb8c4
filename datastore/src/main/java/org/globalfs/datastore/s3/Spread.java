package org.globalfs.datastore.s3;

import java.util.Arrays;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.jspecify.annotations.Nullable;

/**
 * How the chunks of a block of all regions lie in n buckets: round-robin, from a bucket that the
 * block's id says. None gets more than m of them, so any one may be lost.
 */
final class Spread {
    private static final int[][] LADDER = {{9, 3}, {6, 3}, {4, 2}, {2, 1}, {1, 1}};

    private Spread() {}

    /** The widest code that n buckets are enough for; null: none. */
    static @Nullable ReedSolomon code(int buckets) {
        for (int[] step : LADDER) {
            int most = (step[0] + step[1] + buckets - 1) / Math.max(1, buckets);
            if (buckets > 0 && most <= step[1]) {
                return ReedSolomon.of(step[0], step[1]);
            }
        }
        return null;
    }

    /**
     * One with a chunk in each of n buckets, of which one may be away when it is written, and
     * another be lost before that is back; null: they are too few, or so many that {@link #code} is
     * such a one.
     */
    static @Nullable ReedSolomon codeWithoutOne(int buckets) {
        boolean isNeeded = buckets < LADDER[0][0] + LADDER[0][1];
        return buckets < 3 || !isNeeded ? null : ReedSolomon.of(buckets - 2, 2);
    }

    /** Of all chunks of a block in n buckets, with either code; one that is not coded: its own. */
    static int mostBytes(int buckets, int blockBytes) {
        int most = blockBytes;
        for (ReedSolomon code : Arrays.asList(code(buckets), codeWithoutOne(buckets))) {
            most =
                    code == null
                            ? most
                            : Math.max(most, code.chunkBytes(blockBytes) * code.chunks());
        }
        return most;
    }

    /** Which of the n buckets a chunk is in. */
    static int bucket(long idLow, int chunk, int buckets) {
        return (int) ((Long.remainderUnsigned(idLow, buckets) + chunk) % buckets);
    }
}
