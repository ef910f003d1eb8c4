package org.globalfs.multicast.core;

import org.globalfs.multicast.Membership;
import org.globalfs.protocol.Dissemination;
import org.globalfs.protocol.Invariant;

/**
 * A ring as one of its members sees it.
 *
 * @param ring the ring's number, and its partition's
 * @param self this member's replica id
 * @param members the replica ids of the acceptors that the ring began with
 * @param heartbeatNs how often the coordinator shows that it lives
 * @param leaseNs how long a member that acknowledged a heartbeat votes for nobody else
 * @param driftPermille by how much two members' clock rates may differ; the coordinator shortens
 *     its lease by it
 * @param electionJitterNs spread of the candidates after a lease ends
 * @param windowInstances undecided instances that the coordinator allows itself
 * @param windowBytes undecided bytes that the coordinator allows itself; may all be written before
 *     the next heartbeat
 * @param batchBytes size at which an instance takes no further entry
 * @param queueBytes size at which further proposals are refused
 * @param catchUpDelayNs how long a missing decided instance may be on its way before a peer is
 *     asked for it
 * @param acknowledgedAnywhere whether members other than the coordinator acknowledge commands to
 *     clients (ring global); then votes go to all, or else to the coordinator. Members must agree
 *     on it
 * @param lambda instances a second that the ring's logical position stands for at least; 0: no
 *     skips, nobody merges this ring by round-robin
 * @param deltaNs how often the coordinator makes up for fewer
 * @param dissemination how the values that this member orders get to the others; members need not
 *     agree on it
 * @param seed of the election jitter
 */
public record RingConfig(
        int ring,
        int self,
        int[] members,
        long heartbeatNs,
        long leaseNs,
        int driftPermille,
        long electionJitterNs,
        int windowInstances,
        int windowBytes,
        int batchBytes,
        int queueBytes,
        long catchUpDelayNs,
        boolean acknowledgedAnywhere,
        long lambda,
        long deltaNs,
        Dissemination dissemination,
        long seed) {

    private static final long MS = 1_000_000L;

    public RingConfig {
        members = members.clone();
        Invariant.check(
                heartbeatNs > 0 && leaseNs > 2 * heartbeatNs, "lease must span several heartbeats");
        Invariant.check(
                lambda >= 0 && (lambda == 0 || deltaNs > 0),
                "%s instances a second, but no skips",
                lambda);
    }

    /**
     * The defaults of a ring whose members are at most a few ms apart (regional) or an ocean (ring
     * 0).
     *
     * <p>Members of one ring must agree on the lease's length: the coordinator trusts that others
     * keep what it counts on. A new length therefore needs a new version of the wire protocol.
     */
    public static RingConfig defaults(int ring, int self, int[] members, long seed) {
        boolean global = ring == 0;
        return new RingConfig(
                ring,
                self,
                members,
                (global ? 100 : 50) * MS,
                (global ? 800 : 400) * MS,
                20,
                (global ? 300 : 50) * MS,
                64,
                (global ? 16 : 4) << 20,
                256 << 10,
                32 << 20,
                40 * MS,
                global,
                0,
                0,
                Dissemination.STAR,
                seed);
    }

    /** The same with skips for the round-robin merge. */
    public RingConfig withSkips(long instancesPerSecond, long everyNs) {
        return new RingConfig(
                ring,
                self,
                members,
                heartbeatNs,
                leaseNs,
                driftPermille,
                electionJitterNs,
                windowInstances,
                windowBytes,
                batchBytes,
                queueBytes,
                catchUpDelayNs,
                acknowledgedAnywhere,
                instancesPerSecond,
                everyNs,
                dissemination,
                seed);
    }

    public RingConfig with(Dissemination other) {
        return new RingConfig(
                ring,
                self,
                members,
                heartbeatNs,
                leaseNs,
                driftPermille,
                electionJitterNs,
                windowInstances,
                windowBytes,
                batchBytes,
                queueBytes,
                catchUpDelayNs,
                acknowledgedAnywhere,
                lambda,
                deltaNs,
                other,
                seed);
    }

    /** The same with commands acknowledged anywhere, or by the coordinator alone. */
    public RingConfig acknowledging(boolean anywhere) {
        return new RingConfig(
                ring,
                self,
                members,
                heartbeatNs,
                leaseNs,
                driftPermille,
                electionJitterNs,
                windowInstances,
                windowBytes,
                batchBytes,
                queueBytes,
                catchUpDelayNs,
                anywhere,
                lambda,
                deltaNs,
                dissemination,
                seed);
    }

    /** The same with other times for heartbeats, lease and elections. */
    public RingConfig withTimes(long heartbeat, long lease, long electionJitter) {
        return new RingConfig(
                ring,
                self,
                members,
                heartbeat,
                lease,
                driftPermille,
                electionJitter,
                windowInstances,
                windowBytes,
                batchBytes,
                queueBytes,
                catchUpDelayNs,
                acknowledgedAnywhere,
                lambda,
                deltaNs,
                dissemination,
                seed);
    }

    @Override
    public int[] members() {
        return members.clone();
    }

    /** What the ring began with. */
    Membership initial() {
        return Membership.initial(members);
    }
}
