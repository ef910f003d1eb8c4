package org.globalfs.datastore.client;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.globalfs.protocol.discovery.StorageSite;

/**
 * How long storage nodes take to answer reads, small and large ones, and which of them lag behind
 * the others of their region, as one whose disk is slow does. Each estimate is of the time that
 * half of the answers take, so that a pause now and then does not make a laggard. What lags is
 * farther away for readers ({@link HomeDistances}), and asked once a second all the same, to find
 * out whether it still does. Thread-safe; races lose samples, which does no harm.
 */
final class NodeTimes {
    private static final int SMALL_BYTES = 128 << 10;

    /** Of an estimate, up or down with each answer. */
    private static final double STEP = 0.1;

    /** So many times what the others take, and {@link #LEAST_NS} more. */
    private static final double LAGS = 2.5;

    private static final long LEAST_NS = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long AGAIN_NS = TimeUnit.SECONDS.toNanos(1);

    /**
     * So many times as long as it was waited for is what one that was overtaken is taken to need.
     */
    private static final long OVERTAKEN = 4;

    /** With fewer to compare it with, nobody lags. */
    private static final int LEAST_OTHERS = 2;

    private final Map<String, Estimate> small = new ConcurrentHashMap<>();
    private final Map<String, Estimate> large = new ConcurrentHashMap<>();
    private final LongSupplier nanoTime;

    private static final class Estimate {
        private volatile double ns;
        private volatile long askedNs;

        Estimate(double ns) {
            this.ns = ns;
        }
    }

    NodeTimes(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    private Map<String, Estimate> of(int bytes) {
        return bytes <= SMALL_BYTES ? small : large;
    }

    /** A node answered a request for so many bytes. */
    void answered(String node, int bytes, long tookNs) {
        note(node, bytes, tookNs);
    }

    /** A node had not answered after so long, when others that were asked instead of it had. */
    void overtaken(String node, int bytes, long waitedNs) {
        note(node, bytes, OVERTAKEN * waitedNs);
    }

    private void note(String node, int bytes, long ns) {
        Estimate estimate = of(bytes).computeIfAbsent(node, _ -> new Estimate(ns));
        double now = estimate.ns;
        estimate.ns = Math.max(1, ns > now ? Math.min(ns, now * (1 + STEP)) : now * (1 - STEP));
        estimate.askedNs = nanoTime.getAsLong();
    }

    /**
     * By how much each of a block's homes lags behind the others of its region; 0: it does not, or
     * is to be asked again.
     *
     * @param bytes that each is asked for
     */
    long[] lagNs(List<StorageSite> homes, int bytes) {
        Map<String, Estimate> estimates = of(bytes);
        long[] lags = new long[homes.size()];
        for (int chunk = 0; chunk < lags.length; chunk++) {
            Estimate own = estimates.get(homes.get(chunk).id());
            if (own != null && own.ns > LEAST_NS) {
                lags[chunk] = lagNs(own, homes.get(chunk), homes, estimates);
            }
        }
        return lags;
    }

    private long lagNs(
            Estimate own,
            StorageSite site,
            List<StorageSite> homes,
            Map<String, Estimate> estimates) {
        List<Double> others = new ArrayList<>();
        for (StorageSite home : homes) {
            Estimate other = estimates.get(home.id());
            if (other != null && other != own && home.region().equals(site.region())) {
                others.add(other.ns);
            }
        }
        if (others.size() < LEAST_OTHERS) {
            return 0;
        }
        Collections.sort(others);
        double usual = others.get((others.size() - 1) / 2);
        double now = own.ns;
        if (now <= LAGS * usual + LEAST_NS) {
            return 0;
        }
        long nowNs = nanoTime.getAsLong();
        if (nowNs - own.askedNs >= AGAIN_NS) {
            own.askedNs = nowNs;
            return 0;
        }
        return (long) (now - usual);
    }
}
