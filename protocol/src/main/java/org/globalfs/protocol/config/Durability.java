package org.globalfs.protocol.config;

/** What an acknowledged update survives. */
public enum Durability {
    /** On a majority's disks: survives the loss of power everywhere. */
    DISK,
    /** In a majority's memory, for benchmarks: lost when a majority stops together. */
    MEMORY
}
