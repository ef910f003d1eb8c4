package org.globalfs.datastore.cache.policy;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A plan for millions of blocks, near the optimum. Of each block's options only those on the upper
 * hull of latency saved over bytes count; steps from one of them to the next are taken in the order
 * of what they save for each byte, until the cache is full, and what is left is filled with the
 * steps that save most and still fit. That is the optimum for the bytes it fills (a block's steps
 * get less worthwhile along the hull, so their order is kept), and misses it by less than the value
 * of one step otherwise.
 *
 * <p>Steps are not sorted, but counted by the upper half of what they save for a byte; only those
 * at the edge are sorted.
 */
public final class HullPlanner implements CachePlanner {
    private static final int BUCKET_SHIFT = 16;
    private static final int BUCKETS = 1 << Integer.SIZE - BUCKET_SHIFT - 1;
    private static final int FILLING_ROUNDS = 16;

    @Override
    public CachePlan plan(
            List<Candidate> candidates,
            RegionLatencies latencies,
            double cacheMs,
            long capacityBytes) {
        Steps steps = new Steps(candidates, latencies, cacheMs);
        int edge = steps.takeDownToEdge(capacityBytes);
        steps.takeAtEdge(edge, capacityBytes);
        steps.fill(capacityBytes);
        Map<BlockKey, Long> chunks = HashMap.newHashMap(Math.max(16, steps.blocksTaken()));
        for (int i = 0; i < candidates.size(); i++) {
            if (steps.taken[i] > 0) {
                chunks.put(candidates.get(i).key(), steps.farthest(i));
            }
        }
        return new CachePlan(chunks, steps.usedBytes);
    }

    /** The steps of all blocks; those of one are next to each other. */
    private static final class Steps {
        private final List<Candidate> candidates;
        private final RegionLatencies latencies;
        private final Hull hull;

        /** By block: where its steps begin; one more at the end. */
        private final int[] first;

        private int[] chunks = new int[16];
        private int[] bytes = new int[16];
        private float[] valuePerByte = new float[16];

        /** By block: how many of its steps are taken. */
        final int[] taken;

        long usedBytes;

        Steps(List<Candidate> candidates, RegionLatencies latencies, double cacheMs) {
            this.candidates = candidates;
            this.latencies = latencies;
            hull = new Hull(latencies, cacheMs);
            first = new int[candidates.size() + 1];
            taken = new int[candidates.size()];
            for (int i = 0; i < candidates.size(); i++) {
                first[i + 1] = first[i] + append(candidates.get(i), first[i]);
            }
        }

        private int append(Candidate candidate, int at) {
            int count = hull.of(candidate.layout());
            if (at + count > bytes.length) {
                int room = Math.max(at + count, bytes.length * 2);
                bytes = Arrays.copyOf(bytes, room);
                chunks = Arrays.copyOf(chunks, room);
                valuePerByte = Arrays.copyOf(valuePerByte, room);
            }
            int chunkBytes = candidate.layout().chunkBytes();
            for (int i = 0; i < count; i++) {
                int step = hull.chunks[i] - (i == 0 ? 0 : hull.chunks[i - 1]);
                double saved = hull.savedMs[i] - (i == 0 ? 0 : hull.savedMs[i - 1]);
                chunks[at + i] = hull.chunks[i];
                bytes[at + i] = step * chunkBytes;
                valuePerByte[at + i] =
                        (float) (candidate.popularity() * saved / ((double) step * chunkBytes));
            }
            return count;
        }

        private static int bucket(float value) {
            return Float.floatToIntBits(value) >>> BUCKET_SHIFT;
        }

        /** Takes the steps of all buckets that fit whole; returns the first that does not. */
        int takeDownToEdge(long capacityBytes) {
            long[] inBucket = new long[BUCKETS];
            for (int step = 0; step < first[taken.length]; step++) {
                inBucket[bucket(valuePerByte[step])] += bytes[step];
            }
            int edge = BUCKETS - 1;
            while (edge > 0 && usedBytes + inBucket[edge] <= capacityBytes) {
                usedBytes += inBucket[edge];
                edge--;
            }
            for (int i = 0; i < taken.length; i++) {
                int step = first[i];
                while (step < first[i + 1] && bucket(valuePerByte[step]) > edge) {
                    step++;
                }
                taken[i] = step - first[i];
            }
            return edge;
        }

        /** Takes what fits of the steps in one bucket, the best first. */
        void takeAtEdge(int edge, long capacityBytes) {
            int count = 0;
            long[] order = new long[16];
            for (int i = 0; i < taken.length; i++) {
                for (int step = first[i] + taken[i];
                        step < first[i + 1] && bucket(valuePerByte[step]) == edge;
                        step++) {
                    if (count == order.length) {
                        order = Arrays.copyOf(order, count * 2);
                    }
                    // Best first; a block's steps, if equal, in their order: blocks are in order.
                    long rank = (long) Integer.MAX_VALUE - Float.floatToIntBits(valuePerByte[step]);
                    order[count++] = rank << Integer.SIZE | i;
                }
            }
            Arrays.sort(order, 0, count);
            for (int n = 0; n < count; n++) {
                int block = (int) order[n];
                take(block, capacityBytes);
            }
        }

        private void take(int block, long capacityBytes) {
            int step = first[block] + taken[block];
            if (usedBytes + bytes[step] <= capacityBytes) {
                usedBytes += bytes[step];
                taken[block]++;
            }
        }

        /** Takes the next steps that save most and fit, one after another. */
        void fill(long capacityBytes) {
            for (int round = 0; round < FILLING_ROUNDS; round++) {
                long left = capacityBytes - usedBytes;
                int best = -1;
                double bestValue = 0;
                for (int i = 0; i < taken.length; i++) {
                    int step = first[i] + taken[i];
                    if (step < first[i + 1] && bytes[step] <= left) {
                        double value = (double) valuePerByte[step] * bytes[step];
                        if (value > bestValue) {
                            bestValue = value;
                            best = i;
                        }
                    }
                }
                if (best < 0) {
                    return;
                }
                take(best, capacityBytes);
            }
        }

        int blocksTaken() {
            int blocks = 0;
            for (int count : taken) {
                blocks += count > 0 ? 1 : 0;
            }
            return blocks;
        }

        /** The chunks that the block's taken steps keep: a bit each. */
        long farthest(int block) {
            return hull.farthest(
                    candidates.get(block).layout(), chunks[first[block] + taken[block] - 1]);
        }
    }

    /** The options of one block that are on the hull, by how many chunks they keep. */
    private static final class Hull {
        private final RegionLatencies latencies;
        private final double cacheMs;
        private final double[] sorted = new double[Long.SIZE];
        private final int[] order = new int[Long.SIZE];
        final int[] chunks = new int[Long.SIZE + 1];
        final double[] savedMs = new double[Long.SIZE + 1];

        Hull(RegionLatencies latencies, double cacheMs) {
            this.latencies = latencies;
            this.cacheMs = cacheMs;
        }

        /** Nearest first, as {@link CachingOption#of} has them. */
        private void sort(ChunkLayout layout) {
            List<Integer> regions = layout.regions();
            for (int chunk = 0; chunk < regions.size(); chunk++) {
                double ms = latencies.ms(regions.get(chunk));
                int at = chunk;
                while (at > 0 && sorted[at - 1] > ms) {
                    sorted[at] = sorted[at - 1];
                    order[at] = order[at - 1];
                    at--;
                }
                sorted[at] = ms;
                order[at] = chunk;
            }
        }

        /** Finds the hull; returns how many options are on it. */
        int of(ChunkLayout layout) {
            sort(layout);
            int data = layout.dataChunks();
            double without = sorted[data - 1];
            int count = 0;
            for (int kept = 1; kept <= data; kept++) {
                double left = kept < data ? sorted[data - kept - 1] : 0;
                double saved = without - Math.max(left, cacheMs);
                if (saved <= (count == 0 ? 0 : savedMs[count - 1])) {
                    continue;
                }
                while (count > 0 && isBelow(count - 1, kept, saved)) {
                    count--;
                }
                chunks[count] = kept;
                savedMs[count] = saved;
                count++;
            }
            return count;
        }

        /** Whether a point is on or below the line from the one before it to a new one. */
        private boolean isBelow(int point, int kept, double saved) {
            double fromChunks = point == 0 ? 0 : chunks[point - 1];
            double fromSaved = point == 0 ? 0 : savedMs[point - 1];
            return (savedMs[point] - fromSaved) * (kept - fromChunks)
                    <= (saved - fromSaved) * (chunks[point] - fromChunks);
        }

        long farthest(ChunkLayout layout, int kept) {
            sort(layout);
            long mask = 0;
            for (int i = layout.dataChunks() - kept; i < layout.dataChunks(); i++) {
                mask |= 1L << order[i];
            }
            return mask;
        }
    }
}
