package org.globalfs.replica.service;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Multicast;
import org.globalfs.protocol.wire.DecideOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.globalfs.protocol.wire.VoteOp;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.PendingTransaction;

/**
 * Carries coordinated operations on, whoever began them: proposes this region's votes, once its
 * coordinator has had the grants in their way given back, and the decisions due. Ring 0's
 * coordinator decides at once, other replicas when nothing has happened for a while; proposing one
 * twice does no harm.
 */
final class CoordinatedDriver {

    private static final long RESEND_NS = 1_000_000_000L;
    private static final long OTHERS_WAIT_NS = 2_000_000_000L;

    private final HostedPartition global;
    private final HostedPartition home;
    private final Multicast multicast;
    private final LongPredicate mayVote;
    private final long voteTimeoutNs;
    private final LongSupplier nanoTime;
    private final Map<Long, Step> votes = new HashMap<>();
    private final Map<Long, Step> decisions = new HashMap<>();

    private static final class Step {
        final long sinceNs;
        long sentNs;

        Step(long nowNs) {
            this.sinceNs = nowNs;
            this.sentNs = nowNs - RESEND_NS;
        }

        boolean due(long nowNs) {
            return nowNs - sentNs >= RESEND_NS;
        }
    }

    /**
     * @param mayVote whether the vote on a transaction may be proposed here
     * @param voteTimeoutMs a transaction whose votes are not all there by then is aborted
     */
    CoordinatedDriver(
            HostedPartition global,
            HostedPartition home,
            Multicast multicast,
            LongPredicate mayVote,
            long voteTimeoutMs,
            LongSupplier nanoTime) {
        this.mayVote = mayVote;
        this.global = global;
        this.home = home;
        this.multicast = multicast;
        this.voteTimeoutNs = voteTimeoutMs * 1_000_000;
        this.nanoTime = nanoTime;
    }

    /** After an instance of the home ring. */
    void regionalExecuted(List<Entry> entries) {
        for (Entry entry : entries) {
            if (entry instanceof Entry.Import) {
                proposeVotes();
                return;
            }
        }
    }

    /** After an instance of ring 0. */
    void globalExecuted() {
        proposeDecisions();
    }

    /** Now and then. */
    void tick() {
        proposeVotes();
        proposeDecisions();
    }

    /** Those that may be. */
    void proposeVotes() {
        List<VoteOp> pending = home.use(PartitionState::pendingVotes);
        synchronized (votes) {
            long nowNs = nanoTime.getAsLong();
            Set<Long> alive = new HashSet<>();
            for (VoteOp vote : pending) {
                alive.add(vote.getTransaction());
                Step step =
                        votes.computeIfAbsent(
                                vote.getTransaction(), transaction -> new Step(nowNs));
                if (step.due(nowNs) && mayVote.test(vote.getTransaction())) {
                    propose(step, UpdateOp.vote(vote), new int[] {0}, nowNs);
                }
            }
            votes.keySet().retainAll(alive);
        }
    }

    private void proposeDecisions() {
        List<PendingTransaction> pending = global.use(PartitionState::pendingTransactions);
        synchronized (decisions) {
            long nowNs = nanoTime.getAsLong();
            boolean coordinator = multicast.isCoordinator(0);
            Set<Long> alive = new HashSet<>();
            for (PendingTransaction transaction : pending) {
                alive.add(transaction.transaction());
                Step step =
                        decisions.computeIfAbsent(transaction.transaction(), t -> new Step(nowNs));
                boolean ready =
                        transaction.missingVotes().isEmpty()
                                || nowNs - step.sinceNs >= voteTimeoutNs;
                boolean mine = coordinator || nowNs - step.sinceNs >= OTHERS_WAIT_NS;
                if (ready && mine && step.due(nowNs)) {
                    propose(
                            step,
                            UpdateOp.decide(new DecideOp(transaction.transaction())),
                            new int[] {0},
                            nowNs);
                }
            }
            decisions.keySet().retainAll(alive);
        }
    }

    private void propose(Step step, UpdateOp op, int[] destinations, long nowNs) {
        if (multicast.propose(0, CommandBytes.internal(home.partition(), op), destinations)) {
            step.sentNs = nowNs;
        }
    }
}
