package org.globalfs.multicast;

import java.util.List;
import org.globalfs.multicast.Membership.Member;

/** One step from a membership to the next. */
public sealed interface MembershipChange {

    /**
     * A new replica follows the ring, without a vote, until it has caught up and is promoted.
     *
     * @param address {@code host:port} where it listens for peers
     */
    record AddLearner(int id, String address) implements MembershipChange {}

    /** A learner that has caught up becomes an acceptor. */
    record Promote(int id) implements MembershipChange {}

    /** An acceptor or learner leaves the ring. */
    record Remove(int id) implements MembershipChange {}

    /** A learner that has caught up takes the place of an acceptor, which leaves the ring. */
    record Replace(int id, int by) implements MembershipChange {
        private boolean isDone(Membership current) {
            return !current.contains(id) && current.rank(by) >= 0;
        }
    }

    /**
     * What becomes of a change.
     *
     * @param result whether it is on its way
     * @param detail for people: why not, and what to do; empty when it is
     */
    record Outcome(Result result, String detail) {}

    /** Whether a coordinator takes a change on. */
    enum Result {
        /** Ordered as soon as a majority has it; in force once the membership shows it. */
        PROPOSED,
        /** In force already. */
        UNCHANGED,
        /** Another process may be the coordinator. */
        NOT_COORDINATOR,
        /** Can go on by itself: another change, or catching up, is under way. */
        NOT_YET,
        /** Makes no sense for this membership. */
        REFUSED
    }

    /** Whom the change lets decide who did not before, and who has to know everything first. */
    default List<Integer> newAcceptors() {
        return switch (this) {
            case Promote promote -> List.of(promote.id);
            case Replace replace -> List.of(replace.by);
            case AddLearner add -> List.of();
            case Remove remove -> List.of();
        };
    }

    /** Why the change makes no sense; empty when it does. */
    default String objection(Membership current) {
        return switch (this) {
            case AddLearner add -> acceptor(current, add.id) ? add.id + " is an acceptor" : "";
            case Promote promote -> notLearner(current, promote.id);
            case Remove remove ->
                    current.size() == 1 && acceptor(current, remove.id)
                            ? remove.id + " is the only acceptor: add another first"
                            : "";
            case Replace replace -> objection(current, replace);
        };
    }

    private static String objection(Membership current, Replace replace) {
        if (replace.isDone(current)) {
            return "";
        }
        if (!acceptor(current, replace.id)) {
            return replace.id + " is no acceptor of the ring";
        }
        // One less would decide, which is a removal, and nobody asked for one.
        return acceptor(current, replace.by)
                ? "replica "
                        + replace.by
                        + " is a member already and can take no other's place: remove replica "
                        + replace.id
                        + " if it is to go"
                : notLearner(current, replace.by);
    }

    private static String notLearner(Membership current, int id) {
        return current.contains(id) ? "" : id + " is not in the ring: add it as a learner first";
    }

    private static boolean acceptor(Membership current, int id) {
        return current.rank(id) >= 0;
    }

    /** The membership after it; one that changes nothing is the current one itself. */
    default Membership applyTo(Membership current) {
        return switch (this) {
            case AddLearner add ->
                    current.contains(add.id)
                            ? current
                            : current.with(new Member(add.id, false, add.address));
            case Promote promote -> promoted(current, promote.id);
            case Remove remove ->
                    current.contains(remove.id) ? current.without(remove.id) : current;
            case Replace replace -> {
                if (replace.isDone(current)) {
                    yield current;
                }
                Membership promoted = promoted(current, replace.by);
                Membership changed = promoted.without(replace.id);
                yield new Membership(current.generation() + 1, changed.members());
            }
        };
    }

    private static Membership promoted(Membership current, int id) {
        for (Member member : current.members()) {
            if (member.id() == id && !member.acceptor()) {
                return current.with(new Member(id, true, member.address()));
            }
        }
        return current;
    }
}
