package org.globalfs.multicast.core;

import java.util.Map;
import java.util.TreeMap;
import org.globalfs.multicast.Membership;

/** Which members lost their votes and lately asked to take part again. */
final class Rejoins {

    private record Asked(long incident, long atNs) {}

    private final RingConfig config;
    private final Membership members;
    private final Map<Integer, Asked> asked = new TreeMap<>();
    private long pauseUntilNs;

    Rejoins(RingConfig config, Membership members) {
        this.config = config;
        this.members = members;
    }

    void heard(int rank, long incident, long nowNs) {
        asked.put(rank, new Asked(incident, nowNs));
    }

    /** Incidents by rank, of those that still ask. */
    Map<Integer, Long> open(long nowNs) {
        asked.values().removeIf(a -> nowNs - a.atNs() > config.leaseNs());
        Map<Integer, Long> open = new TreeMap<>();
        asked.forEach((rank, a) -> open.put(rank, a.incident()));
        return open;
    }

    /**
     * Whether a ballot for these may begin now: enough others are left to make a majority without
     * them, and so that every majority has one of the others.
     */
    boolean possible(Map<Integer, Long> open, long nowNs) {
        int others = members.size() - open.size();
        return nowNs >= pauseUntilNs
                && others >= members.majority()
                && open.size() < members.majority();
    }

    /** An attempt stops the ring for a round trip: a failing one is not repeated at once. */
    void attempted(long nowNs) {
        pauseUntilNs = nowNs + 4 * config.leaseNs();
    }
}
