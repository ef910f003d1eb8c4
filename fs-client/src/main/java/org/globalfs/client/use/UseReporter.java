package org.globalfs.client.use;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.rpc.OracleCalls;
import org.globalfs.protocol.rpc.RpcClient;
import org.globalfs.protocol.rpc.RpcException;
import org.globalfs.protocol.wire.DirectoryUse;
import org.globalfs.protocol.wire.UseReport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the region's oracle from time to time, on a thread of its own, what was counted.
 *
 * <p>These are statistics: a report that does not arrive is dropped. The oracle reckons in rates,
 * and what it hears of late, or twice because an answer was lost, would look like a burst.
 */
public final class UseReporter implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(UseReporter.class);
    private static final long FIRST_MS = 2_000;
    private static final long AFTER_FAILURE_MS = 5_000;
    private static final long CALL_MS = 5_000;
    private static final long SHORTEST_MS = 100;
    private static final long LONGEST_MS = TimeUnit.MINUTES.toMillis(10);

    private final UseCounts counts;
    private final Policies policies;
    private final RegionOracle oracle;
    private final long afterFailureMs;
    private final CountDownLatch closed = new CountDownLatch(1);
    private long periodMs;

    /** What directories say of themselves. */
    @FunctionalInterface
    public interface Policies {
        /**
         * A directory's {@link org.globalfs.protocol.placement.MoveRule#ATTRIBUTE}; empty: it has
         * none; null: not known now. May ask a replica.
         */
        @Nullable String of(long directory);
    }

    /**
     * Begins at once.
     *
     * @param oracle stays the caller's
     */
    public UseReporter(UseCounts counts, Policies policies, RegionOracle oracle) {
        this(counts, policies, oracle, FIRST_MS, AFTER_FAILURE_MS);
    }

    /**
     * @param firstMs how long it waits before the first report
     */
    UseReporter(
            UseCounts counts,
            Policies policies,
            RegionOracle oracle,
            long firstMs,
            long afterFailureMs) {
        this.counts = counts;
        this.policies = policies;
        this.oracle = oracle;
        this.periodMs = firstMs;
        this.afterFailureMs = afterFailureMs;
        Thread.ofPlatform().daemon().name("use-reporter-" + oracle.region()).start(this::run);
    }

    private void run() {
        try {
            long pauseMs = periodMs;
            while (!closed.await(pauseMs, TimeUnit.MILLISECONDS)) {
                pauseMs = reported() ? periodMs : afterFailureMs;
            }
        } catch (InterruptedException e) {
            LOG.debug("reports of use interrupted");
        }
    }

    /** Whatever becomes of one report, others follow. */
    private boolean reported() {
        try {
            return report();
        } catch (RuntimeException e) {
            LOG.error("use of the tree was not reported", e);
            return false;
        }
    }

    /** Whether there was nothing to be said, or the oracle has heard it. */
    private boolean report() {
        List<DirectoryUse> uses = counts.take();
        if (uses.isEmpty()) {
            return true;
        }
        RpcClient client = oracle.client();
        if (client == null) {
            LOG.debug("no oracle of region {} is announced", oracle.region());
            return false;
        }
        uses.forEach(use -> use.setPolicy(policies.of(use.getIno())));
        try {
            UseReport report = new UseReport(oracle.region(), uses);
            long nextMs = client.call(OracleCalls.REPORT_USE, report, CALL_MS).getPeriodMs();
            periodMs = Math.clamp(nextMs, SHORTEST_MS, LONGEST_MS);
            return true;
        } catch (RpcException e) {
            LOG.debug("use of {} directories is not reported: {}", uses.size(), e.toString());
            return false;
        }
    }

    /** Waits for nothing: a report that is under way is left to itself. */
    @Override
    public void close() {
        closed.countDown();
    }
}
