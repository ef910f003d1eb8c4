package org.globalfs.replica.service;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Multicast;
import org.globalfs.replica.state.PartitionState;

/** Bounds what one partition has to replay after a crash, and lets the ring's log be trimmed. */
final class Flusher {

    private final HostedPartition partition;
    private final Multicast multicast;
    private final long limitBytes;
    private final long limitNs;
    private final AtomicLong executedBytes = new AtomicLong();
    private volatile long flushedInstance;
    private volatile long importedDurable;
    private long flushedNs = System.nanoTime();

    Flusher(HostedPartition partition, Multicast multicast, ReplicaOptions options) {
        this.partition = partition;
        this.multicast = multicast;
        this.limitBytes = options.flushBytes();
        this.limitNs = options.flushMs() * 1_000_000;
        // What the state stood at when it was opened came from its files.
        this.flushedInstance = partition.applied();
        this.importedDurable = partition.importedThrough();
    }

    void executed(List<Entry> entries) {
        long bytes = 0;
        for (Entry entry : entries) {
            bytes += entry instanceof Entry.Command command ? command.value().length : Long.BYTES;
        }
        executedBytes.addAndGet(bytes);
    }

    /** Flushes if enough has been executed or enough time has passed. One thread. */
    void tick() {
        long nowNs = System.nanoTime();
        boolean due = executedBytes.get() >= limitBytes || nowNs - flushedNs >= limitNs;
        if (due) {
            flushedNs = nowNs;
            if (partition.applied() > flushedInstance) {
                flush();
            }
        }
    }

    void flush() {
        executedBytes.set(0);
        long imported = partition.importedThrough();
        long instance = partition.use(PartitionState::flush);
        importedDurable = Math.max(importedDurable, imported);
        flushedInstance = Math.max(flushedInstance, instance);
        multicast.checkpointed(partition.partition(), instance);
    }

    long flushedInstance() {
        return flushedInstance;
    }

    long importedDurable() {
        return importedDurable;
    }
}
