package org.globalfs.multicast;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.globalfs.protocol.Invariant;

/**
 * Who takes part in a ring: its acceptors, whose votes decide, and its learners, which follow it.
 * Ordered in the ring itself ({@link Entry.Members}), so all agree on who decides which instance: a
 * membership holds for the instances after the one that it was decided in.
 *
 * <p>Immutable.
 */
public final class Membership {

    /** Generations that a ring can have; ballots carry them in so many bits. */
    public static final int MAX_GENERATION = (1 << 15) - 1;

    /**
     * One of them.
     *
     * @param id replica id
     * @param acceptor false: learner
     * @param address {@code host:port} where it listens for peers; empty when every process's
     *     configuration has it
     */
    public record Member(int id, boolean acceptor, String address) {}

    private final int generation;
    private final List<Member> members;
    private final int[] acceptors;

    /**
     * @param generation 0 for the membership that a ring begins with, then one more at each change
     */
    public Membership(int generation, List<Member> members) {
        this.generation = generation;
        this.members = members.stream().sorted((a, b) -> Integer.compare(a.id, b.id)).toList();
        this.acceptors =
                this.members.stream().filter(Member::acceptor).mapToInt(Member::id).toArray();
        long distinct = this.members.stream().mapToInt(Member::id).distinct().count();
        Invariant.check(distinct == members.size(), "%s lists a member twice", this);
        Invariant.check(acceptors.length > 0, "%s has no acceptor", this);
    }

    /** What a ring begins with, as configured. */
    public static Membership initial(int[] acceptors) {
        return new Membership(
                0, Arrays.stream(acceptors).mapToObj(id -> new Member(id, true, "")).toList());
    }

    public int generation() {
        return generation;
    }

    /** Ascending by id. */
    public List<Member> members() {
        return members;
    }

    /** Replica ids of the acceptors, ascending. */
    public List<Integer> acceptors() {
        return Arrays.stream(acceptors).boxed().toList();
    }

    /** Replica ids of the learners, ascending. */
    public List<Integer> learners() {
        return members.stream().filter(m -> !m.acceptor).map(Member::id).toList();
    }

    /** Everybody's replica id but this one's, ascending. */
    public List<Integer> others(int self) {
        return members.stream().map(Member::id).filter(id -> id != self).toList();
    }

    public boolean contains(int id) {
        return members.stream().anyMatch(m -> m.id == id);
    }

    /** Number of acceptors. */
    public int size() {
        return acceptors.length;
    }

    /** How many acceptors decide. */
    public int majority() {
        return acceptors.length / 2 + 1;
    }

    /** Position of an acceptor in ascending order, negative for anybody else. */
    public int rank(int id) {
        return Arrays.binarySearch(acceptors, id);
    }

    /** The acceptor at this position. */
    public int acceptor(int rank) {
        return acceptors[rank];
    }

    Membership with(Member member) {
        List<Member> changed = new ArrayList<>(members);
        changed.removeIf(m -> m.id == member.id);
        changed.add(member);
        return new Membership(generation + 1, changed);
    }

    Membership without(int id) {
        List<Member> changed = new ArrayList<>(members);
        changed.removeIf(m -> m.id == id);
        return new Membership(generation + 1, changed);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Membership that
                && generation == that.generation
                && members.equals(that.members);
    }

    @Override
    public int hashCode() {
        return 31 * generation + members.hashCode();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("Membership[").append(generation).append(":");
        for (Member member : members) {
            text.append(' ').append(member.id).append(member.acceptor ? "" : "(learner)");
        }
        return text.append(']').toString();
    }
}
