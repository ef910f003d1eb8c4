package org.globalfs.client.cache;

/** Why something cached may be believed. */
public sealed interface Validity {

    /**
     * A grant of the partition's coordinator: good until recalled, while the lease of that epoch
     * runs.
     */
    record Granted(int partition, long epoch) implements Validity {}

    /**
     * Read of the global partition at this instance: good for a moment, while the session has seen
     * nothing newer of it.
     */
    record Recent(long instance, long untilNs) implements Validity {}

    /** Whether what is known by {@code this} and by {@code other} belongs together. */
    default boolean joins(Validity other) {
        return switch (this) {
            case Granted granted -> granted.equals(other);
            case Recent recent ->
                    other instanceof Recent(long instance, long untilNs)
                            && instance == recent.instance;
        };
    }
}
