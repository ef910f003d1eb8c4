package org.globalfs.replica.service;

import java.util.concurrent.CompletableFuture;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MembershipChange;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.Multicast;
import org.globalfs.multicast.RingPosition;
import org.globalfs.multicast.RingStatus;

/** What a region's replica sees of {@link CutRegions}' rings. */
class SteppedMulticast implements Multicast {

    private static final long LEASE_MS = 400;

    private final CutRegions regions;
    private final int region;

    SteppedMulticast(CutRegions regions, int region) {
        this.regions = regions;
        this.region = region;
    }

    @Override
    public boolean propose(int ring, byte[] value, int[] destinations) {
        return regions.propose(region, ring, value);
    }

    @Override
    public boolean proposeHere(int ring, byte[] value) {
        return regions.propose(region, ring, value);
    }

    @Override
    public int coordinator(int ring) {
        return ring == 0 ? regions.coordinatorFor(region) : region;
    }

    @Override
    public long term(int ring) {
        return coordinator(ring) == region ? 1 : NONE;
    }

    private static UnsupportedOperationException unused() {
        return new UnsupportedOperationException("no step needs it");
    }

    @Override
    public boolean subscribe(int through, int group, RingPosition from) {
        throw unused();
    }

    @Override
    public boolean unsubscribe(int through, int group, int ring) {
        throw unused();
    }

    @Override
    public long leaseInstance(int ring) {
        throw unused();
    }

    @Override
    public CompletableFuture<Long> readIndex(int ring) {
        throw unused();
    }

    @Override
    public long leaseRemainingMs(int ring) {
        return isCoordinator(ring) ? LEASE_MS : 0;
    }

    @Override
    public RingStatus status(int ring) {
        throw unused();
    }

    @Override
    public Membership membership(int ring) {
        throw unused();
    }

    @Override
    public CompletableFuture<MembershipChange.Outcome> change(int ring, MembershipChange change) {
        throw unused();
    }

    @Override
    public void checkpointed(int ring, long instance) {
        throw unused();
    }

    @Override
    public void checkpointed(MergePosition position) {
        throw unused();
    }

    @Override
    public void keepLogShort(boolean isShort) {
        throw unused();
    }

    @Override
    public void globalExecuted(long instance) {
        throw unused();
    }

    @Override
    public void close() {}
}
