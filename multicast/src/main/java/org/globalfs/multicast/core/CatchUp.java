package org.globalfs.multicast.core;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.globalfs.multicast.Membership;

/**
 * Fetches decided instances that this member missed, one request at a time, from any process that
 * has them: an acceptor, or somebody else who told of more. The latter matters to a member that
 * missed a change of the membership: those whom it knows may be gone.
 *
 * <p>A hole is normal for a moment (a vote overtakes its value), so a request goes out only when
 * the prefix stands still or is far behind. When every peer that answers has trimmed what is
 * needed, only a checkpoint helps.
 */
final class CatchUp {

    private static final int NOBODY = -1;
    private static final long NEVER = Long.MAX_VALUE;

    private final RingConfig config;

    /** By id, as the turn goes round. */
    private final TreeMap<Integer, Peer> peers = new TreeMap<>();

    private int asked = NOBODY;
    private int last;
    private long deadlineNs;
    private long stalledAt = -1;
    private long stalledSinceNs;
    private long pauseUntilNs;
    private long lastTickNs;

    /** What is known of another process. */
    private static final class Peer {
        long decided;

        /**
         * First instance that it has in its log, when it said that the one asked for is too old.
         */
        long firstAvailable;

        boolean useless;
    }

    CatchUp(RingConfig config, Membership members) {
        this.config = config;
        this.last = config.self();
        members.acceptors().forEach(id -> peers.put(id, new Peer()));
        peers.remove(config.self());
    }

    void heard(int from, long decided) {
        if (from != config.self()) {
            Peer peer = peer(from);
            peer.decided = Math.max(peer.decided, decided);
        }
    }

    private Peer peer(int id) {
        return peers.computeIfAbsent(id, unknown -> new Peer());
    }

    /** The furthest decided prefix that any peer has told. */
    long known() {
        long known = 0;
        for (Peer peer : peers.values()) {
            known = Math.max(known, peer.decided);
        }
        return known;
    }

    /**
     * A peer answered with something that moved the prefix to {@code decided}, or with nothing of
     * use.
     */
    void answered(int peer, long from, boolean moved, long decided, long nowNs, Effects effects) {
        if (moved) {
            forgetFailures();
        } else if (peer == asked && from == decided + 1) {
            peer(peer).useless = true;
        }
        if (peer == asked) {
            asked = NOBODY;
            if (known() > decided) {
                if (moved) {
                    ask(peer, decided, nowNs, effects);
                } else {
                    ask(decided, nowNs, effects);
                }
            }
        }
    }

    void tooOld(int peer, long from, long available, long decided, long nowNs, Effects effects) {
        if (from == decided + 1 && available > from) {
            Peer told = peer(peer);
            told.firstAvailable = available;
            told.useless = true;
        }
        if (peer == asked) {
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
                peer(asked).useless = true;
                ask(decided, nowNs, effects);
            }
        } else if (nowNs >= pauseUntilNs
                && (nowNs - stalledSinceNs >= config.catchUpDelayNs()
                        || known() - decided > config.windowInstances())) {
            ask(decided, nowNs, effects);
        }
    }

    private void ask(long decided, long nowNs, Effects effects) {
        int peer = nextUseful(decided);
        if (peer == NOBODY) {
            asked = NOBODY;
            long available = oldestAvailable();
            forgetFailures();
            pauseUntilNs = nowNs + config.leaseNs();
            if (available != NEVER) {
                effects.behind(available);
            }
            return;
        }
        ask(peer, decided, nowNs, effects);
    }

    private void ask(int peer, long decided, long nowNs, Effects effects) {
        asked = peer;
        last = peer;
        deadlineNs = nowNs + config.leaseNs() / 2;
        effects.send(peer, new Message.CatchUpRequest(decided + 1));
    }

    /** By turns; prefers a peer known to have more, else one that may have. */
    private int nextUseful(long decided) {
        int maybe = NOBODY;
        for (Map<Integer, Peer> turn :
                List.of(peers.tailMap(last, false), peers.headMap(last, true))) {
            for (Map.Entry<Integer, Peer> peer : turn.entrySet()) {
                if (peer.getValue().useless) {
                    continue;
                }
                if (peer.getValue().decided > decided) {
                    return peer.getKey();
                }
                maybe = maybe == NOBODY ? peer.getKey() : maybe;
            }
        }
        return maybe;
    }

    private long oldestAvailable() {
        long oldest = NEVER;
        for (Peer peer : peers.values()) {
            if (peer.firstAvailable > 0) {
                oldest = Math.min(oldest, peer.firstAvailable);
            }
        }
        return oldest;
    }

    private void forgetFailures() {
        for (Peer peer : peers.values()) {
            peer.useless = false;
            peer.firstAvailable = 0;
        }
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
