package org.globalfs.datastore.erasure;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The code RS(k, m): any k of the k + m chunks of a block give all of them. Thread-safe. */
public final class ReedSolomon {
    private static final Map<Integer, ReedSolomon> CODES = new ConcurrentHashMap<>();

    private final int dataChunks;
    private final int parityChunks;
    private final byte[][] generator;
    private final Rows parityRows;
    private final Map<Rebuild, Rows> rebuildRows = new ConcurrentHashMap<>();

    /** Which chunks are computed from which: a bit for each. */
    private record Rebuild(long available, long wanted) {}

    private ReedSolomon(int dataChunks, int parityChunks) {
        this.dataChunks = dataChunks;
        this.parityChunks = parityChunks;
        generator = CodeMatrix.cauchy(dataChunks, parityChunks);
        byte[][] parity = new byte[parityChunks][];
        System.arraycopy(generator, dataChunks, parity, 0, parityChunks);
        parityRows = new Rows(parity);
    }

    /** The code of k data and m parity chunks; k + m at most 64. */
    public static ReedSolomon of(int dataChunks, int parityChunks) {
        if (dataChunks < 1 || parityChunks < 1 || dataChunks + parityChunks > Long.SIZE) {
            throw new IllegalArgumentException(
                    "RS("
                            + dataChunks
                            + ","
                            + parityChunks
                            + "): needs k >= 1, m >= 1, k + m <= 64");
        }
        return CODES.computeIfAbsent(
                dataChunks << 8 | parityChunks, key -> new ReedSolomon(dataChunks, parityChunks));
    }

    /** Chooses and warms the coder in the background, once the machine has little else to do. */
    public static void warmUp() {
        CoderChoice.begin();
    }

    /** Returns once the coder is chosen for good, for benchmarks; its name. */
    public static String settle() throws InterruptedException {
        return CoderChoice.settled().name();
    }

    public int dataChunks() {
        return dataChunks;
    }

    public int parityChunks() {
        return parityChunks;
    }

    public int chunks() {
        return dataChunks + parityChunks;
    }

    /**
     * Bytes of each chunk of a block: an even share, rounded up to a whole vector so that no coder
     * meets a ragged tail. The last data chunks are padded with zeros.
     */
    public int chunkBytes(int blockBytes) {
        return chunkBytes(blockBytes, dataChunks);
    }

    /** The same, of a block with so many data chunks. */
    public static int chunkBytes(int blockBytes, int dataChunks) {
        int share = (blockBytes + dataChunks - 1) / dataChunks;
        return (share + 63) & -64;
    }

    /** Fills the parity chunks of `chunks`, which holds all k + m chunks one behind the other. */
    public void encode(byte[] chunks, int chunkBytes) {
        encode(CoderChoice.current(), chunks, chunkBytes);
    }

    /**
     * One parity chunk of `chunks`, which holds the k data chunks one behind the other.
     *
     * @param wanted its index, k or more
     */
    public byte[] parity(byte[] chunks, int chunkBytes, int wanted) {
        int[] available = new int[dataChunks];
        byte[][] input = new byte[dataChunks][];
        int[] inputAt = new int[dataChunks];
        for (int c = 0; c < dataChunks; c++) {
            available[c] = c;
            input[c] = chunks;
            inputAt[c] = c * chunkBytes;
        }
        byte[] parity = new byte[chunkBytes];
        rebuild(
                available,
                input,
                inputAt,
                new int[] {wanted},
                new byte[][] {parity},
                new int[1],
                chunkBytes);
        return parity;
    }

    void encode(Coder coder, byte[] chunks, int chunkBytes) {
        byte[][] input = new byte[dataChunks][];
        int[] inputAt = new int[dataChunks];
        for (int c = 0; c < dataChunks; c++) {
            input[c] = chunks;
            inputAt[c] = c * chunkBytes;
        }
        byte[][] output = new byte[parityChunks][];
        int[] outputAt = new int[parityChunks];
        for (int r = 0; r < parityChunks; r++) {
            output[r] = chunks;
            outputAt[r] = (dataChunks + r) * chunkBytes;
        }
        coder.multiply(parityRows, input, inputAt, output, outputAt, chunkBytes);
    }

    /**
     * Computes whole chunks from the first k that are there.
     *
     * @param chunks of a block, by index: at least k of them; null: not there
     */
    public byte[][] rebuild(byte[] @Nullable [] chunks, int[] wanted, int chunkBytes) {
        int[] available = new int[dataChunks];
        byte[][] input = new byte[dataChunks][];
        int found = 0;
        for (int chunk = 0; chunk < chunks.length && found < dataChunks; chunk++) {
            byte[] there = chunks[chunk];
            if (there != null) {
                available[found] = chunk;
                input[found++] = there;
            }
        }
        byte[][] output = new byte[wanted.length][chunkBytes];
        rebuild(
                available,
                input,
                new int[dataChunks],
                wanted,
                output,
                new int[wanted.length],
                chunkBytes);
        return output;
    }

    /**
     * Computes the chunks named by `wanted` from the k chunks named by `available`: column for
     * column, so a range of bytes of the available chunks gives the same range of the wanted ones.
     */
    public void rebuild(
            int[] available,
            byte[][] input,
            int[] inputAt,
            int[] wanted,
            byte[][] output,
            int[] outputAt,
            int length) {
        rebuild(CoderChoice.current(), available, input, inputAt, wanted, output, outputAt, length);
    }

    void rebuild(
            Coder coder,
            int[] available,
            byte[][] input,
            int[] inputAt,
            int[] wanted,
            byte[][] output,
            int[] outputAt,
            int length) {
        if (available.length != dataChunks) {
            throw new IllegalArgumentException(
                    "needs exactly " + dataChunks + " chunks, got " + available.length);
        }
        coder.multiply(rowsFor(available, wanted), input, inputAt, output, outputAt, length);
    }

    /** Few combinations occur in a process's life (lost nodes), so their tables are kept. */
    private Rows rowsFor(int[] available, int[] wanted) {
        if (!ordered(available) || !ordered(wanted) || rebuildRows.size() > 512) {
            return new Rows(CodeMatrix.rebuildRows(generator, available, wanted));
        }
        return rebuildRows.computeIfAbsent(
                new Rebuild(mask(available), mask(wanted)),
                k -> new Rows(CodeMatrix.rebuildRows(generator, available, wanted)));
    }

    private static boolean ordered(int[] indexes) {
        for (int i = 1; i < indexes.length; i++) {
            if (indexes[i] <= indexes[i - 1]) {
                return false;
            }
        }
        return true;
    }

    private static long mask(int[] indexes) {
        long mask = 0;
        for (int index : indexes) {
            mask |= 1L << index;
        }
        return mask;
    }
}
