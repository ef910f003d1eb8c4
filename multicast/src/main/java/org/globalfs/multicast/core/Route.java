package org.globalfs.multicast.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.globalfs.protocol.Dissemination;

/**
 * The way of one coordinator's proposals to the other members.
 *
 * <p>Star: directly to each. Ring: to the first of a route, and each member on it passes on to the
 * next what it gets, before its own disk has it. The value so leaves every member once at most.
 *
 * <p>Only those are on the route that were heard lately and voted in time for what they got: all
 * others get everything directly, as in a star, so that whoever stops passing on cuts nobody off
 * for longer than it takes to notice. A new coordinator has heard nobody and begins as a star.
 *
 * <p>The nearest comes first, by the round trips of heartbeats and roughly: members of one region
 * then follow one another, and a value crosses the sea to them once.
 */
final class Route {

    private static final int HEARD_HEARTBEATS = 2;
    private static final int DIRECT_HEARTBEATS = 50;

    /** Members whose round trips differ by less are about equally far. */
    private static final long ROUGHLY_NS = 10_000_000;

    private static final int NOBODY = -1;

    private final RingConfig config;
    private final List<Integer> acceptors;
    private final List<Integer> learners;
    private final int selfRank;
    private final long[] roundTripNs;
    private final long[] directUntilNs;

    /** By rank: what a value and the vote for it may take by the route; 0: gets it directly. */
    private final long[] voteNs;

    private int first = NOBODY;
    private List<Integer> behindFirst = List.of();
    private List<Integer> direct = List.of();

    /** Ranks are places among the acceptors; learners get everything directly. */
    Route(RingConfig config, List<Integer> acceptors, List<Integer> learners, long nowNs) {
        this.config = config;
        this.acceptors = acceptors;
        this.learners = learners;
        this.selfRank = acceptors.indexOf(config.self());
        this.roundTripNs = new long[acceptors.size()];
        this.directUntilNs = new long[acceptors.size()];
        Arrays.fill(directUntilNs, nowNs);
        this.voteNs = new long[acceptors.size()];
    }

    void send(Message.Accept accept, Effects effects) {
        if (first == NOBODY) {
            effects.send(Outbound.ALL, accept);
            return;
        }
        effects.send(first, accept.along(behindFirst));
        for (int member : direct) {
            effects.send(member, accept);
        }
    }

    /** How long a heartbeat and its acknowledgement took. */
    void roundTrip(int rank, long tookNs) {
        long former = roundTripNs[rank];
        roundTripNs[rank] = former == 0 ? tookNs : former + (tookNs - former) / 8;
    }

    /** Whether the member gets proposals by the route. */
    boolean has(int rank) {
        return voteNs[rank] > 0;
    }

    /**
     * How long a member on the route may take to vote, at most: a hop takes no longer than the way
     * round by the coordinator.
     */
    long voteNs(int rank) {
        return voteNs[rank];
    }

    /** A member on the route voted too late: either it or one before it passes nothing on. */
    void broken(int rank, long nowNs) {
        directUntilNs[rank] = nowNs + DIRECT_HEARTBEATS * config.heartbeatNs();
    }

    /** Chooses the route until the next heartbeat. */
    void choose(long[] heardNs, long nowNs) {
        if (config.dissemination() == Dissemination.STAR) {
            return;
        }
        List<Integer> route = new ArrayList<>();
        List<Integer> others = new ArrayList<>(learners);
        for (int i = 1; i < acceptors.size(); i++) {
            int rank = (selfRank + i) % acceptors.size();
            boolean heard = nowNs - heardNs[rank] < HEARD_HEARTBEATS * config.heartbeatNs();
            if (heard && nowNs >= directUntilNs[rank]) {
                route.add(rank);
            } else {
                others.add(acceptors.get(rank));
            }
        }
        route.sort(Comparator.comparingLong(rank -> roundTripNs[rank] / ROUGHLY_NS));
        Arrays.fill(voteNs, 0);
        first = NOBODY;
        if (route.size() < 2) {
            return;
        }
        long soFarNs = 0;
        for (int rank : route) {
            soFarNs += Math.max(1, roundTripNs[rank]);
            voteNs[rank] = soFarNs;
        }
        List<Integer> members = route.stream().map(acceptors::get).toList();
        first = members.getFirst();
        behindFirst = members.subList(1, members.size());
        direct = List.copyOf(others);
    }
}
