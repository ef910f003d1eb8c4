package org.globalfs.datastore.node;

/**
 * How a node looks for damage of its chunks.
 *
 * @param periodMs it reads each of them once in this time; 0: it does not read them by itself
 * @param bytesPerSecond reads at most, however short the period is
 */
public record ScrubOptions(long periodMs, long bytesPerSecond) {

    /** Damage is not looked for. */
    public static final ScrubOptions NEVER = new ScrubOptions(0, 0);
}
