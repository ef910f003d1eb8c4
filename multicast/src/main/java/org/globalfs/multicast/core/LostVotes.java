package org.globalfs.multicast.core;

import org.globalfs.protocol.Invariant;

/**
 * A member whose log was lost, with the promises and votes in it. It learns and delivers like any
 * other, but takes no part: it neither promises, votes, stands nor acknowledges heartbeats, for a
 * majority with it might contradict what its forgotten vote helped to choose.
 *
 * <p>It asks for a ballot that begins after its loss and that <em>all</em> other members promise
 * ({@link Message.Rejoin}). Whatever was chosen before then has a vote of one of them, and each of
 * them reports it and votes in no earlier ballot any more; so the ballot's coordinator found all of
 * it, and no promise that was forgotten is above that ballot. Having opened the ballot, and learned
 * everything below its base, which may be kept by a single other member, the member knows as much
 * as if it had never forgotten anything.
 *
 * <p>A learner has no votes in its generation, and those that it gave in earlier ones are void for
 * it once it is in this one. But it may have been promoted before the loss, and not know of that
 * any more. So it waits as well, for a ballot after its loss that any majority promises: had a
 * change been decided before, the ballot's coordinator would have found it.
 *
 * <p>Hence a ballot that begins with a change of membership readmits nobody, learner or acceptor:
 * the loss may be one of votes in the membership that comes.
 */
final class LostVotes {

    private long incident;
    private Ballot readmittedIn = Ballot.NONE;
    private long readmittedBase;
    private long askNs;

    LostVotes(long incident) {
        this.incident = incident;
    }

    /** Whether this member must not take part. */
    boolean outside() {
        return incident != 0;
    }

    void ask(RingConfig config, long decided, long nowNs, Effects effects) {
        if (outside() && nowNs >= askNs) {
            askNs = nowNs + config.heartbeatNs();
            effects.send(Outbound.ALL, new Message.Rejoin(incident, decided));
        }
    }

    /** The acceptor takes part in this opening's ballot. */
    void opened(Message.Open open) {
        boolean first = !open.ballot().equals(readmittedIn);
        // A coordinator of an older version does not see to it.
        boolean changes = open.batches().stream().anyMatch(batch -> batch.membership() != null);
        if (outside() && first && !changes && open.readmitted().contains(incident)) {
            readmittedIn = open.ballot();
            readmittedBase = open.base();
        }
    }

    /** Whether nothing that was lost matters any more once everything through here is decided. */
    boolean over(long decided) {
        return outside() && !readmittedIn.equals(Ballot.NONE) && decided >= readmittedBase - 1;
    }

    /** The member takes part from now on, as soon as this is durable. */
    LogRecord end() {
        Invariant.check(outside(), "no votes were lost");
        incident = 0;
        return new LogRecord.VotesLost(0);
    }
}
