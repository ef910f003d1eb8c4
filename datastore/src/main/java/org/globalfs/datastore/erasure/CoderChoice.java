package org.globalfs.datastore.erasure;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the coder of this process. The vector coder's first calls run interpreted and take the
 * better part of a second, so it is warmed up on a thread of its own; until then the table coder
 * serves. Both give the same bytes.
 *
 * <p>{@code -Dglobalfs.coder=table|vector} overrides the choice.
 */
final class CoderChoice {
    static final String PROPERTY = "globalfs.coder";

    private static final Logger LOG = LoggerFactory.getLogger(CoderChoice.class);
    private static final AtomicBoolean STARTED = new AtomicBoolean();
    private static final int WARM_UP_ROUNDS = 800;
    private static final int WARM_UP_BYTES = 8 << 10;

    /** Starting a cluster is busy enough: warming up waits until that is over. */
    private static final long DELAY_NS = 3_000_000_000L;

    private static volatile boolean hurried;
    private static volatile Coder coder = new TableCoder();
    private static volatile @Nullable Thread warmUp;

    private CoderChoice() {}

    static Coder current() {
        if (!STARTED.get()) {
            begin();
        }
        return coder;
    }

    /** Starts the choice; returns at once. */
    static void begin() {
        if (!STARTED.compareAndSet(false, true)) {
            return;
        }
        String wanted = System.getProperty(PROPERTY, "");
        switch (wanted) {
            case "table" -> LOG.info("erasure coder: table, as -D{} asks", PROPERTY);
            case "vector", "" -> beginVector(wanted.equals("vector"));
            default ->
                    throw new IllegalArgumentException(
                            "-D" + PROPERTY + "=" + wanted + ": must be table or vector");
        }
    }

    @SuppressWarnings("ThreadPriorityCheck") // start-up has work that is more urgent
    private static void beginVector(boolean forced) {
        if (!vectorModulePresent()) {
            if (forced) {
                throw new IllegalArgumentException(
                        "-D" + PROPERTY + "=vector needs --add-modules jdk.incubator.vector");
            }
            LOG.info("erasure coder: table (started without --add-modules jdk.incubator.vector)");
            return;
        }
        if (!forced && !VectorCoder.fits()) {
            LOG.info("erasure coder: table (vectors of this processor are narrower than 256 bits)");
            return;
        }
        Thread thread =
                Thread.ofPlatform().daemon().name("coder-warm-up").unstarted(CoderChoice::warmUp);
        thread.setPriority(Thread.MIN_PRIORITY);
        warmUp = thread;
        thread.start();
    }

    private static boolean vectorModulePresent() {
        return ModuleLayer.boot().findModule("jdk.incubator.vector").isPresent();
    }

    private static void warmUp() {
        if (!hurried) {
            LockSupport.parkNanos(DELAY_NS);
        }
        Coder vector = new VectorCoder();
        byte[][] generator = CodeMatrix.cauchy(4, 2);
        Rows encode = new Rows(new byte[][] {generator[4], generator[5]});
        Rows rebuildOne =
                new Rows(CodeMatrix.rebuildRows(generator, new int[] {1, 2, 3, 4}, new int[] {0}));
        byte[] data = new byte[6 * WARM_UP_BYTES];
        byte[] expected = new byte[2 * WARM_UP_BYTES];
        for (int i = 0; i < 4 * WARM_UP_BYTES; i++) {
            data[i] = (byte) (i * 31 + (i >> 8));
        }
        byte[][] in = {data, data, data, data};
        int[] inAt = {0, WARM_UP_BYTES, 2 * WARM_UP_BYTES, 3 * WARM_UP_BYTES};
        byte[][] out = {data, data};
        int[] outAt = {4 * WARM_UP_BYTES, 5 * WARM_UP_BYTES};
        long start = System.nanoTime();
        for (int round = 0; round < WARM_UP_ROUNDS; round++) {
            vector.multiply(encode, in, inAt, out, outAt, WARM_UP_BYTES - 64 * (round % 3));
            vector.multiply(rebuildOne, in, inAt, out, outAt, WARM_UP_BYTES);
        }
        vector.multiply(encode, in, inAt, out, outAt, WARM_UP_BYTES);
        new TableCoder()
                .multiply(
                        encode,
                        in,
                        inAt,
                        new byte[][] {expected, expected},
                        new int[] {0, WARM_UP_BYTES},
                        WARM_UP_BYTES);
        boolean same =
                java.util.Arrays.equals(
                        data, 4 * WARM_UP_BYTES, 6 * WARM_UP_BYTES, expected, 0, expected.length);
        if (!same) {
            LOG.error(
                    "the vector coder's result is wrong on this processor or JVM; the table coder stays");
            return;
        }
        coder = vector;
        LOG.debug(
                "erasure coder: vector, warm after {} ms", (System.nanoTime() - start) / 1_000_000);
    }

    /** Waits until the choice is final, for tests and benchmarks. */
    static Coder settled() throws InterruptedException {
        begin();
        hurried = true;
        Thread thread = warmUp;
        if (thread != null) {
            LockSupport.unpark(thread);
            thread.join();
        }
        return coder;
    }
}
