package org.globalfs.multicast.core;

import java.util.Comparator;

/**
 * One election's number: unique, because a node never uses a round twice and its id breaks ties. It
 * belongs to one membership, and is above every ballot of those before it.
 *
 * @param generation of the membership that elects
 */
public record Ballot(int generation, long round, int node) implements Comparable<Ballot> {

    /** Below every ballot that anyone can be elected with. */
    public static final Ballot NONE = new Ballot(0, 0, 0);

    private static final Comparator<Ballot> ORDER =
            Comparator.comparingInt(Ballot::generation)
                    .thenComparingLong(Ballot::round)
                    .thenComparingInt(Ballot::node);

    /** Of the first membership. */
    public Ballot(long round, int node) {
        this(0, round, node);
    }

    /** Below every ballot of the generation, above every one of those before. */
    static Ballot floor(int generation) {
        return new Ballot(generation, 0, 0);
    }

    @Override
    public int compareTo(Ballot other) {
        return ORDER.compare(this, other);
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
        return (generation == 0 ? "" : generation + ":") + round + "." + node;
    }
}
