package org.globalfs.datastore.erasure;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the coder of this process: look-ups where the processor is quick at them, else the other
 * vector coder. Their first calls run interpreted and take the better part of a second, so they are
 * warmed up on a thread of their own; until then the table coder serves. All give the same bytes.
 *
 * <p>That takes a second or two of processor time, and up to four on a busy machine, where all
 * programs would wait for it: it begins when the machine has little else to do, or when something
 * is coded for the first time.
 *
 * <p>{@code -Dglobalfs.coder=table|vector|lookup} overrides the choice.
 */
final class CoderChoice {
    static final String PROPERTY = "globalfs.coder";

    private static final Logger LOG = LoggerFactory.getLogger(CoderChoice.class);
    private static final AtomicBoolean STARTED = new AtomicBoolean();

    /**
     * Look-ups that are one instruction beat the table coder by far more than this, others lose to
     * it; the vector coder lies between.
     */
    private static final int LOOKUP_GAIN = 4;

    /**
     * Between two looks at how busy the machine is, at least; the start is over by the first. Twice
     * as long at most, by chance: so processes of one machine see each other warm up, and wait.
     */
    private static final long CALM_NS = 10_000_000_000L;

    /** Of all processors. */
    private static final double CALM_LOAD = 0.4;

    /** Of a JVM's processor time, which compiles vectors after a quarter of it, or not at all. */
    private static final long WARM_UP_LIMIT_NS = 4_000_000_000L;

    private static volatile boolean hurried;
    private static volatile Coder coder = new TableCoder();
    private static volatile @Nullable Thread warmUp;

    private CoderChoice() {}

    static Coder current() {
        if (!hurried) {
            begin();
            hurry();
        }
        return coder;
    }

    private static void hurry() {
        hurried = true;
        LockSupport.unpark(warmUp);
    }

    /** Starts the choice; returns at once. */
    static void begin() {
        if (!STARTED.compareAndSet(false, true)) {
            return;
        }
        switch (wanted()) {
            case "table" -> LOG.info("erasure coder: table, as -D{} asks", PROPERTY);
            case "" -> beginVector(false);
            case "lookup", "vector" -> beginVector(true);
            default ->
                    throw new IllegalArgumentException(
                            "-D" + PROPERTY + "=" + wanted() + ": must be table, vector or lookup");
        }
    }

    private static String wanted() {
        return System.getProperty(PROPERTY, "");
    }

    @SuppressWarnings("ThreadPriorityCheck") // the work at hand is more urgent
    private static void beginVector(boolean forced) {
        if (!vectorModulePresent()) {
            if (forced) {
                throw new IllegalArgumentException(
                        "-D"
                                + PROPERTY
                                + "="
                                + wanted()
                                + " needs --add-modules jdk.incubator.vector");
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

    private static void awaitCalm() {
        double _ = load();
        do {
            LockSupport.parkNanos(CALM_NS + ThreadLocalRandom.current().nextLong(CALM_NS));
        } while (!hurried && load() > CALM_LOAD);
    }

    /** Of the time since the last call. */
    private static double load() {
        return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getCpuLoad();
    }

    private static void warmUp() {
        if (!hurried) {
            awaitCalm();
        }
        long startNs = System.nanoTime();
        Coder chosen = choose(new CoderTrial(WARM_UP_LIMIT_NS));
        if (chosen != null) {
            coder = chosen;
            LOG.debug(
                    "erasure coder: {}, warm after {} ms",
                    chosen.name(),
                    (System.nanoTime() - startNs) / 1_000_000);
        }
    }

    /** Null: no vector coder is right here, or none is faster. */
    private static @Nullable Coder choose(CoderTrial trial) {
        Coder table = new TableCoder();
        trial.warmUp(table);
        for (Coder candidate : List.of(new LookupCoder(), new VectorCoder())) {
            boolean forced = wanted().equals(candidate.name());
            if (!wanted().isEmpty() && !forced) {
                continue;
            }
            if (!trial.warmUp(candidate) && !forced) {
                LOG.info("erasure coder: table (vector coders do not get fast on this JVM)");
                return null;
            }
            if (!trial.same(candidate, table)) {
                LOG.error(
                        "the {} coder's result is wrong on this processor or JVM: it is not used",
                        candidate.name());
                continue;
            }
            int gain = candidate instanceof LookupCoder ? LOOKUP_GAIN : 1;
            if (forced || trial.bestNs(candidate) * gain <= trial.bestNs(table)) {
                return candidate;
            }
        }
        return null;
    }

    /** Waits until the choice is final, for tests and benchmarks. */
    static Coder settled() throws InterruptedException {
        begin();
        hurry();
        Thread thread = warmUp;
        if (thread != null) {
            thread.join();
        }
        return coder;
    }
}
