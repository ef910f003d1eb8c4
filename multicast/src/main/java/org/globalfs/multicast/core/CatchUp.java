package org.globalfs.multicast.core;

import java.util.Arrays;

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
    private final int selfRank;
    private final long[] peerDecided;
    private final long[] firstAvailable;
    private final boolean[] useless;
    private int asked = NOBODY;
    private int next;
    private long deadlineNs;
    private long stalledAt = -1;
    private long stalledSinceNs;
    private long pauseUntilNs;
    private long lastTickNs;

    CatchUp(RingConfig config) {
        this.config = config;
        this.selfRank = config.rank(config.self());
        this.peerDecided = new long[config.size()];
        this.firstAvailable = new long[config.size()];
        this.useless = new boolean[config.size()];
        this.next = (selfRank + 1) % config.size();
    }

    void heard(int rank, long decided) {
        peerDecided[rank] = Math.max(peerDecided[rank], decided);
    }

    /** The furthest decided prefix that any peer has told. */
    long known() {
        long known = 0;
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
        } else if (from == decided + 1) {
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
        next = (rank + 1) % config.size();
        deadlineNs = nowNs + config.leaseNs() / 2;
        effects.send(config.member(rank), new Message.CatchUpRequest(decided + 1));
    }

    /** Prefers a peer known to have more; else one that may have. */
    private int nextUseful(long decided) {
        int maybe = NOBODY;
        for (int i = 0; i < config.size(); i++) {
            int rank = (next + i) % config.size();
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
