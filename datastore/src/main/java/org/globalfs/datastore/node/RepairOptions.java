package org.globalfs.datastore.node;

/**
 * How a node takes care that its blocks' chunks are all there, and where they belong.
 *
 * @param graceMs a node that is away for so long is taken for dead, and its chunks are made anew
 * @param bytesPerSecond sends to others at most; 0: nothing, it never begins
 * @param quietMs how old a block must be, so that one that is being written is not taken for one
 *     that lacks chunks; and how long, 5 s at most, nodes must have stayed as they are before a
 *     pass
 */
public record RepairOptions(long graceMs, long bytesPerSecond, long quietMs) {

    /** Nothing is looked after. */
    public static final RepairOptions NEVER = new RepairOptions(0, 0, 0);
}
