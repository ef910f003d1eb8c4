package org.globalfs.datastore.cache.policy;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/**
 * How popular blocks are: an exponentially weighted moving average of requests a period (Agar's
 * request monitor, thesis 5.4.1). A period's requests join the average only once they are enough to
 * tell blocks apart: until then they are counted together with the next period's. Where there are
 * few requests the weight of {@value #ALPHA} would otherwise follow chance.
 *
 * <p>Memory is bounded whatever is asked for. Counts live in a count-min sketch, as in TinyLFU; the
 * average is linear, so the average of the sketch is the sketch of the averages, and an estimate is
 * never below the truth. Which blocks there are is known of the most popular ones only: a new one
 * takes the place of a less popular one that it is compared with. Not thread-safe.
 */
public final class RequestMonitor {
    public static final double ALPHA = 0.8;
    private static final int ROWS = 4;

    /** Requests that an average is moved by, at least. */
    private static final int ENOUGH = 5_000;

    /** Blocks that a newcomer is compared with. */
    private static final int RIVALS = 8;

    /** A smaller share of requests, and a block is forgotten: some periods without any. */
    private static final double NEGLIGIBLE = 1e-7;

    private final int columns;
    private final int maxCandidates;
    private final float[] counts;
    private final float[] average;
    private long counted;
    private boolean averaged;
    private final Map<BlockKey, Integer> places = new HashMap<>();
    private final List<BlockKey> keys = new ArrayList<>();
    private final List<ChunkLayout> layouts = new ArrayList<>();
    private int nextRival;

    /**
     * @param columns of the sketch, a power of two; several times the candidates make errors rare
     * @param maxCandidates blocks that a plan may choose from
     */
    public RequestMonitor(int columns, int maxCandidates) {
        if (Integer.bitCount(columns) != 1 || maxCandidates < 1) {
            throw new IllegalArgumentException(
                    columns + " columns and " + maxCandidates + " candidates");
        }
        this.columns = columns;
        this.maxCandidates = maxCandidates;
        counts = new float[ROWS * columns];
        average = new float[ROWS * columns];
    }

    /** Somebody asks for the block. */
    public void record(BlockKey key, ChunkLayout layout) {
        for (int row = 0; row < ROWS; row++) {
            counts[cell(key, row)]++;
        }
        counted++;
        Integer place = places.get(key);
        if (place != null) {
            layouts.set(place, layout);
        } else if (keys.size() < maxCandidates) {
            places.put(key, keys.size());
            keys.add(key);
            layouts.add(layout);
        } else {
            challenge(key, layout);
        }
    }

    private void challenge(BlockKey key, ChunkLayout layout) {
        int weakest = -1;
        double least = popularity(key);
        for (int i = 0; i < RIVALS; i++) {
            nextRival = (nextRival + 1) % keys.size();
            double rival = popularity(keys.get(nextRival));
            if (rival < least) {
                least = rival;
                weakest = nextRival;
            }
        }
        if (weakest >= 0) {
            places.remove(keys.get(weakest));
            places.put(key, weakest);
            keys.set(weakest, key);
            layouts.set(weakest, layout);
        }
    }

    /** A period ends: its requests join the averages, if they are enough. */
    public void endPeriod() {
        if (counted < ENOUGH) {
            return;
        }
        double weight = averaged ? ALPHA : 1;
        for (int i = 0; i < average.length; i++) {
            average[i] = (float) (weight * counts[i] / counted + (1 - weight) * average[i]);
            counts[i] = 0;
        }
        averaged = true;
        counted = 0;
        forgetUnpopular();
    }

    private void forgetUnpopular() {
        List<BlockKey> oldKeys = List.copyOf(keys);
        List<ChunkLayout> oldLayouts = List.copyOf(layouts);
        places.clear();
        keys.clear();
        layouts.clear();
        Iterator<ChunkLayout> layout = oldLayouts.iterator();
        for (BlockKey key : oldKeys) {
            ChunkLayout its = layout.next();
            if (least(average, key) > NEGLIGIBLE) {
                places.put(key, keys.size());
                keys.add(key);
                layouts.add(its);
            }
        }
        nextRival = 0;
    }

    /** The block's share of all requests, as far as it is known by now. */
    public double popularity(BlockKey key) {
        if (counted == 0) {
            return least(average, key);
        }
        double weight = averaged ? ALPHA * Math.min(1, (double) counted / ENOUGH) : 1;
        return weight * least(counts, key) / counted + (1 - weight) * least(average, key);
    }

    private float least(float[] sketch, BlockKey key) {
        float least = Float.MAX_VALUE;
        for (int row = 0; row < ROWS; row++) {
            least = Math.min(least, sketch[cell(key, row)]);
        }
        return least;
    }

    /**
     * The blocks to choose from. Their popularities are drawn towards each other by as much of
     * their variance as chance explains (counts vary by as much as they are large): where all are
     * equally popular, a plan must not follow the differences of a sample.
     */
    public List<Candidate> candidates() {
        double[] shares = new double[keys.size()];
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < shares.length; i++) {
            shares[i] = popularity(keys.get(i));
            sum += shares[i];
            squares += shares[i] * shares[i];
        }
        double mean = sum / Math.max(1, shares.length);
        double variance = squares / Math.max(1, shares.length) - mean * mean;
        double byChance = mean / Math.max(1, averaged ? Math.max(counted, ENOUGH) : counted);
        double drawn = variance <= byChance ? 1 : byChance / variance;
        List<Candidate> candidates = new ArrayList<>(shares.length);
        for (int i = 0; i < shares.length; i++) {
            double share = shares[i] + drawn * (mean - shares[i]);
            candidates.add(new Candidate(keys.get(i), share, layouts.get(i)));
        }
        return candidates;
    }

    private int cell(BlockKey key, int row) {
        long h = key.high() * 0x9e3779b97f4a7c15L + key.low() + row * 0xc2b2ae3d27d4eb4fL;
        h = (h ^ h >>> 30) * 0xbf58476d1ce4e5b9L;
        h = (h ^ h >>> 27) * 0x94d049bb133111ebL;
        return row * columns + (int) ((h ^ h >>> 31) & columns - 1);
    }
}
