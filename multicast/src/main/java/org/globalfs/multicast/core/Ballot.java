package org.globalfs.multicast.core;

/**
 * One election's number: unique, because a node never uses a round twice and its id breaks ties.
 */
public record Ballot(long round, int node) implements Comparable<Ballot> {

    /** Below every ballot that anyone can be elected with. */
    public static final Ballot NONE = new Ballot(0, 0);

    @Override
    public int compareTo(Ballot other) {
        int byRound = Long.compare(round, other.round);
        return byRound != 0 ? byRound : Integer.compare(node, other.node);
    }

    boolean above(Ballot other) {
        return compareTo(other) > 0;
    }

    boolean below(Ballot other) {
        return compareTo(other) < 0;
    }

    static Ballot max(Ballot a, Ballot b) {
        return a.above(b) ? a : b;
    }

    @Override
    public String toString() {
        return round + "." + node;
    }
}
