package org.globalfs.multicast.core;

import java.util.ArrayList;
import java.util.List;
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

    void heard(int id, long incident, long nowNs) {
        asked.put(id, new Asked(incident, nowNs));
    }

    private void forget(long nowNs) {
        asked.values().removeIf(a -> nowNs - a.atNs() > config.leaseNs());
    }

    /** Incidents by rank, of the acceptors that still ask. */
    Map<Integer, Long> open(long nowNs) {
        forget(nowNs);
        Map<Integer, Long> open = new TreeMap<>();
        asked.forEach((id, a) -> {
            if (members.rank(id) >= 0) {
                open.put(members.rank(id), a.incident());
            }
        });
        return open;
    }

    /** Incidents of the learners that still ask. */
    List<Long> learners(long nowNs) {
        forget(nowNs);
        List<Long> incidents = new ArrayList<>();
        asked.forEach((id, a) -> {
            if (members.rank(id) < 0) {
                incidents.add(a.incident());
            }
        });
        return incidents;
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
