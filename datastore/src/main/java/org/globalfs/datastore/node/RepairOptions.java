package org.globalfs.datastore.node;

/**
 * How a node takes care that its blocks' chunks are all there, and where they belong.
 *
 * @param graceMs a node that is away for so long is taken for dead, and its chunks are made anew
 * @param bytesPerSecond sends to others at most
 * @param quietMs how long nodes must have stayed as they are before a pass, and how old a block
 *     must be, so that one that is being written is not taken for one that lacks chunks
 */
public record RepairOptions(long graceMs, long bytesPerSecond, long quietMs) {

    /** Nobody is ever dead, and nothing ever quiet. */
    public static final RepairOptions NEVER =
            new RepairOptions(Long.MAX_VALUE / 2_000_000, 1L << 20, Long.MAX_VALUE / 2_000_000);
}
