package org.globalfs.multicast;

import java.util.Arrays;
import java.util.List;

/** One element of an instance's batch. */
public sealed interface Entry {

    /**
     * A proposed value.
     *
     * @param timestamp hybrid clock stamp of the coordinator, increasing along the ring
     * @param destinations partitions concerned (ring 0); empty in other rings
     */
    record Command(long timestamp, byte[] value, int[] destinations) implements Entry {
        @Override
        public boolean equals(Object other) {
            return other instanceof Command that
                    && timestamp == that.timestamp
                    && Arrays.equals(value, that.value)
                    && Arrays.equals(destinations, that.destinations);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(timestamp) * 31 + Arrays.hashCode(value);
        }

        @Override
        public String toString() {
            return "Command["
                    + timestamp
                    + ", "
                    + value.length
                    + " bytes, "
                    + Arrays.toString(destinations)
                    + "]";
        }
    }

    /** The point in a home ring's order where its partition executes this instance of ring 0. */
    record Import(long instance) implements Entry {}

    /**
     * Alone in its instance: from the next instance on the ring has this membership. Nothing after
     * it is proposed by anyone elected in the membership before.
     */
    record Members(Membership membership) implements Entry {}

    /** Fills an instance that a new coordinator found without a value. */
    record Noop() implements Entry {}

    /**
     * The ring's logical position is at least this after the instance: what the round-robin merge
     * counts instead of instances. It is absolute, so that no coordinator needs to know what an
     * earlier one counted; see {@link org.globalfs.multicast.merge.RoundRobin}.
     */
    record Skip(long position) implements Entry {

        /** The ring's logical position after an instance of these entries. */
        public static long positionAfter(long before, List<Entry> entries) {
            long position = before + 1;
            for (Entry entry : entries) {
                if (entry instanceof Skip skip) {
                    position = Math.max(position, skip.position);
                }
            }
            return position;
        }
    }

    /**
     * From the next instance of the merged order on, every learner of the group follows the ring,
     * or follows it no longer.
     *
     * @param instance of the ring, from behind which the learners count; 0 when they stop to follow
     * @param position of the ring after that instance, as its followers know it
     */
    record Subscription(int group, int ring, boolean follows, long instance, long position)
            implements Entry {}
}
