package org.globalfs.replica.service;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes a call wait until a partition reflects what its session has seen: its own ring's instance,
 * and, of ring 0, every instance up to the session's that concerns the partition.
 */
final class CausalWait {

    private final HostedPartition partition;
    private final HostedPartition global;

    /** The partition has imported everything of ring 0 up to here that concerns it. */
    private final AtomicLong settled = new AtomicLong();

    CausalWait(HostedPartition partition, HostedPartition global) {
        this.partition = partition;
        this.global = global;
    }

    /** False: the deadline passed first. */
    boolean await(long seen, long globalSeen, long deadlineNs) throws InterruptedException {
        if (!partition.progress.await(() -> partition.applied() >= seen, deadlineNs)) {
            return false;
        }
        if (partition.partition() == 0) {
            return partition.progress.await(() -> partition.applied() >= globalSeen, deadlineNs);
        }
        if (settled.get() >= globalSeen) {
            return true;
        }
        return global.progress.await(() -> global.applied() >= globalSeen, deadlineNs)
                && partition.progress.await(() -> settledThrough() >= globalSeen, deadlineNs);
    }

    private long settledThrough() {
        long executed = global.applied();
        long next = global.nextConcerning(partition.partition(), partition.importedThrough());
        long through = next == -1 ? executed : next - 1;
        return settled.accumulateAndGet(through, Math::max);
    }
}
