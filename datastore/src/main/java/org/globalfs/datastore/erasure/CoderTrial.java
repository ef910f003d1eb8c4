package org.globalfs.datastore.erasure;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;

/** Has coders do the same work over and over, to warm them up and to compare them. One thread. */
final class CoderTrial {
    private static final int ROUNDS = 800;
    private static final int TIMED_ROUNDS = 50;
    private static final int CHUNK_BYTES = 8 << 10;
    private static final int MOST_CHUNKS = 12;

    private final long warmUpLimitNs;
    private final byte[] data = new byte[MOST_CHUNKS * CHUNK_BYTES];
    private final Work twoRows = new Work(4, 2);
    private final Work threeRows = new Work(9, 3);
    private final Rows rebuildOne =
            new Rows(
                    CodeMatrix.rebuildRows(
                            CodeMatrix.cauchy(4, 2), new int[] {1, 2, 3, 4}, new int[] {0}));

    /** Encoding of one shape; the parity comes to lie behind the data. */
    private static final class Work {
        final Rows rows;
        final byte[][] in;
        final int[] inAt;
        final byte[][] out;
        final int[] outAt;

        Work(int k, int m) {
            byte[][] generator = CodeMatrix.cauchy(k, m);
            rows = new Rows(Arrays.copyOfRange(generator, k, k + m));
            in = new byte[k][];
            inAt = new int[k];
            out = new byte[m][];
            outAt = new int[m];
            for (int c = 0; c < k; c++) {
                inAt[c] = c * CHUNK_BYTES;
            }
            for (int r = 0; r < m; r++) {
                outAt[r] = (k + r) * CHUNK_BYTES;
            }
        }

        void run(Coder coder, byte[] data, int length) {
            Arrays.fill(in, data);
            Arrays.fill(out, data);
            coder.multiply(rows, in, inAt, out, outAt, length);
        }
    }

    /** With the processor time that a warm-up may take. */
    CoderTrial(long warmUpLimitNs) {
        this.warmUpLimitNs = warmUpLimitNs;
        for (int i = 0; i < data.length; i++) {
            data[i] = (byte) (i * 31 + (i >> 8));
        }
    }

    /**
     * Afterwards the JIT has compiled what the coder consists of; false: it does not, as this took
     * the processor far longer than it should.
     */
    boolean warmUp(Coder coder) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long endNs = threads.getCurrentThreadCpuTime() + warmUpLimitNs;
        byte[][] in = {data, data, data, data};
        int[] inAt = {0, CHUNK_BYTES, 2 * CHUNK_BYTES, 3 * CHUNK_BYTES};
        for (int round = 0; round < ROUNDS; round++) {
            twoRows.run(coder, data, CHUNK_BYTES - 64 * (round % 3));
            threeRows.run(coder, data, CHUNK_BYTES);
            coder.multiply(
                    rebuildOne,
                    in,
                    inAt,
                    new byte[][] {data},
                    new int[] {4 * CHUNK_BYTES},
                    CHUNK_BYTES);
            if (threads.getCurrentThreadCpuTime() > endNs) {
                return false;
            }
        }
        return true;
    }

    /** Whether both give the same bytes. */
    boolean same(Coder one, Coder other) {
        byte[] ofOne = results(one);
        return Arrays.equals(ofOne, results(other));
    }

    private byte[] results(Coder coder) {
        twoRows.run(coder, data, CHUNK_BYTES);
        byte[] two = Arrays.copyOfRange(data, 4 * CHUNK_BYTES, 6 * CHUNK_BYTES);
        threeRows.run(coder, data, CHUNK_BYTES);
        byte[] three = Arrays.copyOfRange(data, 9 * CHUNK_BYTES, MOST_CHUNKS * CHUNK_BYTES);
        byte[] all = Arrays.copyOf(two, two.length + three.length);
        System.arraycopy(three, 0, all, two.length, three.length);
        return all;
    }

    /** What the work takes when nothing comes in between. */
    long bestNs(Coder coder) {
        long best = Long.MAX_VALUE;
        for (int round = 0; round < TIMED_ROUNDS; round++) {
            long begun = System.nanoTime();
            twoRows.run(coder, data, CHUNK_BYTES);
            best = Math.min(best, System.nanoTime() - begun);
        }
        return best;
    }
}
