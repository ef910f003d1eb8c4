package org.globalfs.datastore.client;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.RangePieces.Piece;
import org.globalfs.protocol.discovery.StorageSite;

/**
 * How far away the homes of a block's chunks are, as a read finds it when it begins: what one lags
 * behind others counts as a longer way.
 */
final class HomeDistances {
    /** Decoding costs about as much as so long a way, and jitter is not to decide. */
    private static final long NEAR_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private final long[] wayNs;
    private final long[] ns;
    private final int[] nearest;

    /**
     * @param homes by chunk
     * @param lagNs likewise
     */
    HomeDistances(Distances distances, List<StorageSite> homes, long[] lagNs) {
        wayNs = new long[homes.size()];
        ns = new long[homes.size()];
        for (int chunk = 0; chunk < ns.length; chunk++) {
            wayNs[chunk] = distances.ns(homes.get(chunk));
            ns[chunk] = wayNs[chunk] + lagNs[chunk];
        }
        Integer[] order = new Integer[ns.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingLong(chunk -> ns[chunk]));
        nearest = Arrays.stream(order).mapToInt(Integer::intValue).toArray();
    }

    /**
     * How far away the farthest home is that has to be asked for so many chunks.
     *
     * @param have of what chunks nothing has to be asked for
     */
    long reachNs(int chunks, Columns have) {
        int lacking = chunks;
        for (int chunk : nearest) {
            if (lacking > 0 && !have.has(chunk) && --lacking == 0) {
                return ns[chunk];
            }
        }
        return 0;
    }

    /** As {@link #reachNs(int, Columns)}, of a block that nothing has come of. */
    long reachNs(int chunks) {
        return ns[nearest[chunks - 1]];
    }

    /** The longest way to one of the so many nearest homes, however slow they are. */
    long wayNs(int chunks) {
        long longest = 0;
        for (int i = 0; i < chunks; i++) {
            longest = Math.max(longest, wayNs[nearest[i]]);
        }
        return longest;
    }

    /** Whether others than so many nearest ones lie farther away than these. */
    boolean areOthersFarther(int chunks) {
        return chunks == ns.length || ns[nearest[chunks]] > reachNs(chunks) + NEAR_NS;
    }

    /** Whether some piece lies farther away than the nearest chunks that it can be decoded from. */
    boolean isFarther(RangePieces pieces, int dataChunks) {
        long beyond = reachNs(dataChunks) + NEAR_NS;
        for (Piece piece : pieces.all()) {
            if (ns[piece.chunk] > beyond) {
                return true;
            }
        }
        return false;
    }

    /**
     * All chunks, those with the nearest homes first: data chunks before parity chunks where they
     * are equally near.
     */
    int[] nearest() {
        return nearest;
    }
}
