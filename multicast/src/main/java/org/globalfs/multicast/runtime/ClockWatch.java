package org.globalfs.multicast.runtime;

import java.util.concurrent.TimeUnit;
import org.globalfs.protocol.HybridClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says when timestamps are far ahead of this machine's clock: that one is behind, or another one
 * was ahead. Nothing but times of files goes by that, but they stay ahead until clocks have reached
 * them. For one thread.
 */
final class ClockWatch {
    private static final Logger log = LoggerFactory.getLogger(ClockWatch.class);

    /** More than messages and a strained machine take. */
    private static final long TOLERATED_MS = 10_000;

    private static final long AGAIN_NS = TimeUnit.MINUTES.toNanos(10);

    private final int self;
    private boolean said;
    private long saidNs;

    ClockWatch(int self) {
        this.self = self;
    }

    /**
     * @param timestamp the newest that is known of any ring
     */
    void look(long timestamp, long wallMs, long nowNs) {
        long aheadMs = HybridClock.wallMs(timestamp) - wallMs;
        if (aheadMs <= TOLERATED_MS || said && nowNs - saidNs < AGAIN_NS) {
            return;
        }
        said = true;
        saidNs = nowNs;
        log.warn(
                "replica {}: the cluster's timestamps are {} s ahead of this machine's clock. Its clock"
                        + " is behind, or that of a replica which coordinated was ahead: set it right,"
                        + " and let NTP keep it so. New times of files stay ahead until then",
                self,
                aheadMs / 1000);
    }
}
