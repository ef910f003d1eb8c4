package org.globalfs.bench.datastore;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntConsumer;
import org.globalfs.bench.BenchFailure;
import org.globalfs.datastore.erasure.ReedSolomon;
import org.jspecify.annotations.Nullable;

/** Encodes blocks with GlobalFS's coder and with ISA-L in turn, on one thread. */
final class CoderMember implements BenchMember {
    private static final int TURNS = 4;

    private final @Nullable Isal isal;
    private final String coder;

    CoderMember(String library) {
        isal = Isal.load(library);
        try {
            coder = ReedSolomon.settle();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
    }

    @Override
    public String answer(String[] words) {
        return switch (words[0]) {
            case "coder" -> coder;
            case "encode" ->
                    encode(
                            Integer.parseInt(words[1]),
                            Integer.parseInt(words[2]),
                            Integer.parseInt(words[3]),
                            Long.parseLong(words[4]),
                            Double.parseDouble(words[5]));
            default -> throw new BenchFailure("unknown command " + words[0]);
        };
    }

    /**
     * Bytes of content a second: GlobalFS's, and ISA-L's or 0.
     *
     * @param passedBytes what is gone through before a buffer's turn comes again
     */
    private String encode(int k, int m, int blockBytes, long passedBytes, double seconds) {
        ReedSolomon code = ReedSolomon.of(k, m);
        int chunkBytes = code.chunkBytes(blockBytes);
        int bufferBytes = chunkBytes * (k + m);
        int buffers = Math.max(1, (int) Math.ceilDiv(passedBytes, bufferBytes));
        byte[][] ours = new byte[buffers][bufferBytes];
        SplittableRandom random = new SplittableRandom(k);
        for (byte[] buffer : ours) {
            random.nextBytes(buffer);
        }
        IntConsumer encodeOurs = i -> code.encode(ours[i], chunkBytes);
        try (Arena arena = Arena.ofConfined()) {
            IntConsumer encodeTheirs = i -> {};
            if (isal != null) {
                encodeTheirs = theirs(isal.new Code(arena, k, m, chunkBytes), arena, ours);
            }
            double[] oursRate = new double[TURNS];
            double[] theirsRate = new double[TURNS];
            double turnSeconds = seconds / TURNS / 2;
            double _ = rate(encodeOurs, buffers, blockBytes, seconds); // Java compiles it
            for (int turn = 0; turn < TURNS; turn++) {
                oursRate[turn] = rate(encodeOurs, buffers, blockBytes, turnSeconds);
                if (isal != null) {
                    theirsRate[turn] = rate(encodeTheirs, buffers, blockBytes, turnSeconds);
                }
            }
            return Math.round(best(oursRate)) + " " + Math.round(best(theirsRate));
        }
    }

    /** What others on this machine took is not what the coder does. */
    private static double best(double[] rates) {
        return Arrays.stream(rates).max().orElse(0);
    }

    private static IntConsumer theirs(Isal.Code code, Arena arena, byte[][] ours) {
        List<Isal.Block> blocks = new ArrayList<>();
        for (byte[] buffer : ours) {
            MemorySegment copy = arena.allocate(buffer.length, 64);
            MemorySegment.copy(buffer, 0, copy, ValueLayout.JAVA_BYTE, 0, buffer.length);
            blocks.add(code.block(arena, copy));
        }
        return i -> code.encode(blocks.get(i));
    }

    private static double rate(IntConsumer encode, int buffers, int blockBytes, double seconds) {
        long start = System.nanoTime();
        long untilNs = (long) (seconds * 1e9);
        long encoded = 0;
        long tookNs;
        do {
            encode.accept((int) (encoded % buffers));
            encoded++;
            tookNs = System.nanoTime() - start;
        } while (tookNs < untilNs);
        return encoded * (double) blockBytes / (tookNs / 1e9);
    }

    @Override
    public void close() {}
}
