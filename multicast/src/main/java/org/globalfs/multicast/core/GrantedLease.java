package org.globalfs.multicast.core;

/**
 * The follower's side of the lease: whom it votes for, and until when for nobody else.
 *
 * <p>Grants are not on disk, so a restarted member, which cannot know what it granted, first waits
 * one lease.
 */
final class GrantedLease {

    private static final int UNKNOWN = -1;

    private final long leaseNs;
    private int holder = UNKNOWN;
    private long untilNs;

    GrantedLease(long leaseNs, boolean fresh, long nowNs) {
        this.leaseNs = leaseNs;
        this.untilNs = fresh ? nowNs : nowNs + leaseNs;
    }

    void grant(int coordinator, long nowNs) {
        holder = coordinator;
        untilNs = nowNs + leaseNs;
    }

    /** Whether a vote for the candidate would break the lease; a holder may be elected anew. */
    boolean forbids(int candidate, long nowNs) {
        return nowNs < untilNs && candidate != holder;
    }

    /** Who has it now, or -1. */
    int holder(long nowNs) {
        return nowNs < untilNs ? holder : UNKNOWN;
    }

    long untilNs() {
        return untilNs;
    }
}
