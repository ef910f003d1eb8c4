package org.globalfs.multicast.core;

import java.util.Map;
import java.util.TreeMap;
import org.globalfs.multicast.Membership;

/**
 * How much of the log its members still need, as the coordinator sees it: a part may go once a
 * majority of the acceptors has a checkpoint of it, and everybody who is alive has executed it. A
 * dead member holds nothing back; it takes a checkpoint when it returns. Neither does one that
 * lives but executes nothing while the disk's space is wanted: it reads its own log, or takes a
 * checkpoint, too.
 */
final class Retention {

    private static final int ALIVE_LEASES = 3;

    private record Told(long atNs, long applied, long checkpointed) {}

    private final RingConfig config;
    private final Membership members;
    private final Map<Integer, Told> told = new TreeMap<>();
    private boolean isShort;

    Retention(RingConfig config, Membership members) {
        this.config = config;
        this.members = members;
    }

    void heard(int id, long applied, long checkpointed, long nowNs) {
        told.put(id, new Told(nowNs, applied, checkpointed));
    }

    /** While true, nobody's lag holds anything back. */
    void keepShort(boolean value) {
        isShort = value;
    }

    /** Everything through this instance may go; 0: nothing. */
    long trimmable(long nowNs) {
        long[] checkpoints = new long[members.size()];
        long applied = Long.MAX_VALUE;
        for (Membership.Member member : members.members()) {
            Told last = told.get(member.id());
            if (last == null) {
                continue;
            }
            if (member.acceptor()) {
                checkpoints[members.rank(member.id())] = last.checkpointed;
            }
            if (!isShort && nowNs - last.atNs < ALIVE_LEASES * config.leaseNs()) {
                applied = Math.min(applied, last.applied);
            }
        }
        return Math.min(applied, VoteCount.majorityOf(checkpoints, members.majority()));
    }
}
