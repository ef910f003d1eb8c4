package org.globalfs.multicast.core;

import org.globalfs.multicast.ImportSource;
import org.jspecify.annotations.Nullable;

/** Multi-Paxos member of one ring (body follows; the signatures are what the runtime builds against). */
public class RingCore {

    /** A member that starts, with what its log tells; {@code imports} is null for ring global. */
    public static RingCore recover(RingConfig config, PersistedState state, @Nullable ImportSource imports, long nowNs) {
        return new RingCore();
    }

    /**
     * Queues a value for the next instance, or forwards it to the coordinator. False: no coordinator is known, or the
     * queue is full. Nothing is sent or persisted before {@link #flush}.
     */
    public boolean onPropose(byte[] value, int[] destinations, Effects effects) {
        return false;
    }

    public void onMessage(int from, Message message, long nowNs, Effects effects) {}

    /** To be called at {@link #nextTickNs} or a little later, after the messages that have already come in. */
    public void onTick(long nowNs, Effects effects) {}

    /** The log is durable through {@link Effects#position}. */
    public void onPersisted(long position, long nowNs, Effects effects) {}

    /** Ring global's state moved: there may be something to import. */
    public void onGlobalExecuted() {}

    /** The learner fetched a checkpoint of a peer through this instance; the log may drop everything through it. */
    public void onCheckpointInstalled(long instance, long lastTimestamp, Effects effects) {}

    /** Timestamps given from now on are above this one. */
    public void witness(long timestamp) {}

    /** Ends a round of events: forms instances of what is queued, coalesces votes. {@code wallMs} stamps commands. */
    public void flush(long nowNs, long wallMs, Effects effects) {}

    /** Replica id of the coordinator as far as known, or -1. */
    public int coordinator() {
        return -1;
    }

    /** Whether this member is the coordinator and takes proposals. */
    public boolean leading() {
        return false;
    }

    /** The instance whose execution a linearizable read must wait for, or -1 without a lease. */
    public long leaseInstance(long nowNs) {
        return -1;
    }

    /** How long no other member can be elected, by this member's clock; 0 without a lease. */
    public long leaseRemainingNs(long nowNs) {
        return 0;
    }

    /** The decided prefix. */
    public long decided() {
        return 0;
    }

    public Ballot ballot() {
        return Ballot.NONE;
    }

    /** Highest timestamp in the decided prefix and whatever else was witnessed. */
    public long lastTimestamp() {
        return 0;
    }

    public long nextTickNs() {
        return 0;
    }
}
