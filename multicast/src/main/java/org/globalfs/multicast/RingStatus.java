package org.globalfs.multicast;

import java.util.List;

/**
 * What one process knows of one ring.
 *
 * @param generation how often the ring's membership has changed
 * @param members replica ids of the ring's acceptors
 * @param learners replica ids of those that follow without a vote
 * @param coordinator replica id, or -1 when unknown
 * @param ballot highest ballot seen
 * @param decided highest instance up to which every decision is known here
 * @param delivered highest instance that this process's learner executed
 * @param firstAvailable first instance that is still in this process's log
 * @param leaseRemainingMs 0 unless this process is the coordinator and holds a lease
 * @param connected members with a live connection, this process included
 * @param rejoining this process lost its log: it learns, but takes no part until it has reached
 *     every other member
 */
public record RingStatus(
        int ring,
        int generation,
        List<Integer> members,
        List<Integer> learners,
        int coordinator,
        long ballot,
        long decided,
        long delivered,
        long firstAvailable,
        long leaseRemainingMs,
        List<Integer> connected,
        boolean rejoining) {}
