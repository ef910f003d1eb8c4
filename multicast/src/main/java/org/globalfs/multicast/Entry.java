package org.globalfs.multicast;

import java.util.Arrays;

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

    /** Fills an instance that a new coordinator found without a value. */
    record Noop() implements Entry {}
}
