package org.globalfs.replica.service;

import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.Shutdown;
import org.globalfs.protocol.wire.UpdateReply;
import org.jspecify.annotations.Nullable;

/**
 * Brings an update into its region's ring while this replica coordinates it, at most once within a
 * term. A second copy could be executed after the first was refused for a moment, which ends the
 * call and its {@link Grants.Permit}: what is granted from then on would be stale. Over several
 * terms there can be more than one all the same: a coordinator that stands again may carry the
 * first copy into its next ballot, and a client that asks again after a fail-over orders another.
 * Thread-safe.
 */
final class RegionalProposals {

    /** How often it is looked whether the term, and with it the proposal, has ended. */
    private static final long LOOK_NS = 100_000_000L;

    private final Multicast multicast;
    private final Shutdown shutdown;

    RegionalProposals(Multicast multicast, Shutdown shutdown) {
        this.multicast = multicast;
        this.shutdown = shutdown;
    }

    /**
     * Null: not executed by the deadline, or this replica does not coordinate the ring any more.
     */
    @Nullable UpdateReply order(int ring, byte[] value, Waiters.Waiter waiter, long deadlineNs)
            throws InterruptedException {
        long proposedIn = Multicast.NONE;
        while (System.nanoTime() - deadlineNs < 0 && !shutdown.begun()) {
            long term = multicast.term(ring);
            if (term == Multicast.NONE) {
                return null;
            }
            // Under a later coordinator nobody asks back what that one has granted: only here.
            if (term != proposedIn && multicast.proposeHere(ring, value)) {
                proposedIn = term;
            }
            long patienceNs = term == proposedIn ? LOOK_NS : Updates.PROPOSE_PAUSE_NS;
            UpdateReply reply = waiter.await(Math.min(deadlineNs - System.nanoTime(), patienceNs));
            if (reply != null) {
                return reply;
            }
        }
        return null;
    }
}
