package org.globalfs.multicast.core;

import java.util.Arrays;
import org.globalfs.multicast.Membership;

/**
 * Fetches decided instances that this member missed, one request at a time, from any member that
 * has them.
 *
 * <p>A hole is normal for a moment (a vote overtakes its value), so a request goes out only when
 * the prefix stands still or is far behind. When every peer that answers has trimmed what is
 * needed, only a checkpoint helps.
 */
final class CatchUp {

    private static final int NOBODY = -1;
    private static final long NEVER = Long.MAX_VALUE;

    private final RingConfig config;
    private final Membership members;
    private final int selfRank;
    private final long[] peerDecided;
    private final long[] firstAvailable;
    private final boolean[] useless;

    /**
     * As told by processes that are no acceptors here: of a membership that is yet to be learned.
     */
    private long decidedElsewhere;

    private int asked = NOBODY;
    private int next;
    private long deadlineNs;
    private long stalledAt = -1;
    private long stalledSinceNs;
    private long pauseUntilNs;
    private long lastTickNs;

    CatchUp(RingConfig config, Membership members) {
        this.config = config;
        this.members = members;
        this.selfRank = members.rank(config.self());
        this.peerDecided = new long[members.size()];
        this.firstAvailable = new long[members.size()];
        this.useless = new boolean[members.size()];
        this.next = Math.max(0, selfRank + 1) % members.size();
    }

    void heard(int rank, long decided) {
        if (rank >= 0) {
            peerDecided[rank] = Math.max(peerDecided[rank], decided);
        } else {
            decidedElsewhere = Math.max(decidedElsewhere, decided);
        }
    }

    /** The furthest decided prefix that any peer has told. */
    long known() {
        long known = decidedElsewhere;
        for (long decided : peerDecided) {
            known = Math.max(known, decided);
        }
        return known;
    }

    /**
     * A peer answered with something that moved the prefix to {@code decided}, or with nothing of
     * use.
     */
    void answered(int rank, long from, boolean moved, long decided, long nowNs, Effects effects) {
        if (moved) {
            forgetFailures();
        } else if (rank == asked && from == decided + 1) {
            useless[rank] = true;
        }
        if (rank == asked) {
            asked = NOBODY;
            if (known() > decided) {
                next = moved ? rank : next;
                ask(decided, nowNs, effects);
            }
        }
    }

    void tooOld(int rank, long from, long available, long decided, long nowNs, Effects effects) {
        if (from == decided + 1 && available > from) {
            firstAvailable[rank] = available;
            useless[rank] = true;
        }
        if (rank == asked) {
            asked = NOBODY;
            ask(decided, nowNs, effects);
        }
    }

    void tick(long decided, long nowNs, Effects effects) {
        lastTickNs = nowNs;
        if (known() <= decided) {
            asked = NOBODY;
            stalledAt = -1;
            return;
        }
        if (stalledAt != decided) {
            stalledAt = decided;
            stalledSinceNs = nowNs;
        }
        if (asked != NOBODY) {
            if (nowNs >= deadlineNs) {
                useless[asked] = true;
                ask(decided, nowNs, effects);
            }
        } else if (nowNs >= pauseUntilNs
                && (nowNs - stalledSinceNs >= config.catchUpDelayNs()
                        || known() - decided > config.windowInstances())) {
            ask(decided, nowNs, effects);
        }
    }

    private void ask(long decided, long nowNs, Effects effects) {
        int rank = nextUseful(decided);
        if (rank == NOBODY) {
            asked = NOBODY;
            long available = oldestAvailable();
            forgetFailures();
            pauseUntilNs = nowNs + config.leaseNs();
            if (available != NEVER) {
                effects.behind(available);
            }
            return;
        }
        asked = rank;
        next = (rank + 1) % members.size();
        deadlineNs = nowNs + config.leaseNs() / 2;
        effects.send(members.acceptor(rank), new Message.CatchUpRequest(decided + 1));
    }

    /** Prefers a peer known to have more; else one that may have. */
    private int nextUseful(long decided) {
        int maybe = NOBODY;
        for (int i = 0; i < members.size(); i++) {
            int rank = (next + i) % members.size();
            if (rank == selfRank || useless[rank]) {
                continue;
            }
            if (peerDecided[rank] > decided) {
                return rank;
            }
            maybe = maybe == NOBODY ? rank : maybe;
        }
        return maybe;
    }

    private long oldestAvailable() {
        long oldest = NEVER;
        for (long available : firstAvailable) {
            if (available > 0) {
                oldest = Math.min(oldest, available);
            }
        }
        return oldest;
    }

    private void forgetFailures() {
        Arrays.fill(useless, false);
        Arrays.fill(firstAvailable, 0);
    }

    void checkpointInstalled() {
        forgetFailures();
        asked = NOBODY;
        pauseUntilNs = 0;
    }

    long nextTickNs(long decided) {
        if (known() <= decided) {
            return NEVER;
        }
        if (asked != NOBODY) {
            return deadlineNs;
        }
        long since = stalledAt == decided ? stalledSinceNs : lastTickNs;
        return Math.max(pauseUntilNs, since + config.catchUpDelayNs());
    }
}
