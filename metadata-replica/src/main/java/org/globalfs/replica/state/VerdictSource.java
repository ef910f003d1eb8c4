package org.globalfs.replica.state;

import java.util.List;
import org.globalfs.replica.state.model.Verdict;

/**
 * What partition 0 decided about other partitions, in ring-global order. {@link PartitionState} of
 * partition 0 implements it; a regional partition executes an import by reading it.
 */
public interface VerdictSource {

    /** Highest executed instance of ring 0. */
    long applied();

    /**
     * Smallest executed instance of ring 0 greater than {@code after} that concerns the partition,
     * or -1.
     */
    long nextConcerning(int partition, long after);

    /** What that instance means for that partition; empty when it does not concern it. */
    List<Verdict> verdicts(int partition, long instance);

    /** Verdicts for the partition up to this instance are forgotten; 0 when none was. */
    long trimmedThrough(int partition);
}
