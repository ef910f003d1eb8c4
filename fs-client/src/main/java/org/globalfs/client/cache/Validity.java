package org.globalfs.client.cache;

/** Why something cached may be believed. */
public sealed interface Validity {

    /**
     * A grant of the partition's coordinator: good until recalled, while the lease of that epoch
     * runs.
     */
    record Granted(int partition, long epoch) implements Validity {}

    /**
     * Read of the global partition at this instance: good while the session has seen nothing newer
     * of it, and a replica said a moment ago that it had executed nothing newer either.
     */
    record Recent(long instance) implements Validity {}

    /** Whether what is known by {@code this} and by {@code other} belongs together. */
    default boolean joins(Validity other) {
        return equals(other);
    }
}
