package org.globalfs.replica.state;

/**
 * Partition 0 no longer holds verdicts that this partition has yet to import: the replica must take
 * over a peer's checkpoint of the partition.
 */
public final class VerdictsTrimmedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    VerdictsTrimmedException(int partition, long importedThrough, long trimmedThrough) {
        super(
                "partition "
                        + partition
                        + " imported ring 0 through "
                        + importedThrough
                        + ", but its verdicts are forgotten through "
                        + trimmedThrough
                        + ": take over a checkpoint of a replica of the same partition");
    }
}
