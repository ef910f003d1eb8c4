package org.globalfs.multicast;

/**
 * What the merge of ring 0 into the home ring needs to know of the replica's state. May be called
 * from any thread, and must answer from memory or at the price of a local read.
 */
public interface ImportSource {

    /**
     * Smallest executed instance of ring 0 greater than {@code after} that concerns the partition,
     * or -1.
     */
    long nextConcerning(int partition, long after);

    /** Last instance of ring 0 that the partition's state imported; 0 when none. */
    long importedThrough(int partition);
}
