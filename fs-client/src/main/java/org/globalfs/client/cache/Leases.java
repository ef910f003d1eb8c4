package org.globalfs.client.cache;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * This session's lease at each partition's coordinator. All grants of a coordinator end with it. A
 * lease that ran out, here or at the coordinator (which numbers them), or another coordinator's,
 * begins a new <i>epoch</i>: nothing granted before counts any more.
 *
 * <p>The end is counted from when a request was sent, so it is never later than the coordinator's
 * idea of it.
 */
final class Leases {

    private record Lease(int replica, long number, long epoch, long untilNs) {}

    private final ConcurrentMap<Integer, Lease> leases = new ConcurrentHashMap<>();

    /**
     * A reply extends the lease; returns the epoch that its grants belong to, or -1 when it comes
     * too late.
     */
    long extend(int partition, LeaseOffer offer) {
        long now = System.nanoTime();
        int replica = offer.replica();
        long number = offer.number();
        long untilNs = offer.sentNs() + offer.ms() * 1_000_000L;
        if (untilNs - now <= 0) {
            return -1;
        }
        Lease lease =
                leases.compute(
                        partition,
                        (key, old) -> {
                            if (old == null) {
                                return new Lease(replica, number, 1, untilNs);
                            }
                            boolean same = old.replica == replica;
                            boolean over = old.untilNs - now <= 0;
                            // Overtaken by a later lease. One that is over tells nothing: a
                            // coordinator that was restarted numbers from anywhere.
                            if (same && !over && number < old.number) {
                                return old;
                            }
                            if (!same || over || number != old.number) {
                                return new Lease(replica, number, old.epoch + 1, untilNs);
                            }
                            return old.untilNs - untilNs >= 0
                                    ? old
                                    : new Lease(replica, number, old.epoch, untilNs);
                        });
        return lease.replica == replica && lease.number == number ? lease.epoch : -1;
    }

    /** Nanoseconds that grants of this epoch stay good without a recall; 0: no more. */
    long leftNs(int partition, long epoch) {
        Lease lease = leases.get(partition);
        return lease == null || lease.epoch != epoch
                ? 0
                : Math.max(0, lease.untilNs - System.nanoTime());
    }

    /** Whether a lease runs in this partition. */
    boolean running(int partition) {
        Lease lease = leases.get(partition);
        return lease != null && lease.untilNs - System.nanoTime() > 0;
    }

    /** Everything granted in the partition ends now. */
    void end(int partition) {
        leases.computeIfPresent(
                partition,
                (key, old) -> new Lease(old.replica, old.number, old.epoch + 1, System.nanoTime()));
    }
}
