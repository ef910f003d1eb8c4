package org.globalfs.replica.service;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.Membership;
import org.globalfs.protocol.Shutdown;
import org.globalfs.replica.state.PartitionState;
import org.globalfs.replica.state.VerdictsTrimmedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Feeds a ring's order to the partition of the same number. Runs on the ring's delivery thread. */
final class PartitionLearner implements Learner {

    private static final Logger LOG = LoggerFactory.getLogger(PartitionLearner.class);
    private static final long STOP_CHECK_NS = 50_000_000;
    private static final long REFETCH_PAUSE_MS = 500;

    /** What follows an executed instance. */
    interface Sequel {
        void executed(long instance, List<Entry> entries);
    }

    private final HostedPartition own;
    private final @Nullable HostedPartition global;
    private final CheckpointFetch fetch;
    private final Sequel sequel;
    private final Shutdown shutdown;

    /**
     * @param global partition 0; null when {@code own} is that
     */
    PartitionLearner(
            HostedPartition own,
            @Nullable HostedPartition global,
            CheckpointFetch fetch,
            Sequel sequel,
            Shutdown shutdown) {
        this.own = own;
        this.global = global;
        this.fetch = fetch;
        this.sequel = sequel;
        this.shutdown = shutdown;
    }

    @Override
    public long applied() {
        return own.applied();
    }

    @Override
    public long lastTimestamp() {
        return own.use(PartitionState::lastTimestamp);
    }

    @Override
    public @Nullable Membership membership() {
        return own.membership();
    }

    @Override
    public void deliver(long instance, List<Entry> entries) {
        if (instance <= own.applied()) {
            // A checkpoint taken over meanwhile covers it.
            return;
        }
        while (!shutdown.begun()) {
            if (!awaitImports(entries)) {
                continue;
            }
            try {
                own.use(state -> {
                    state.deliver(instance, entries, global, own.waiters);
                    return state;
                });
                if (instance == 1) {
                    own.found(); // the log has all of it
                }
                own.progress.moved();
                sequel.executed(instance, entries);
                return;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (VerdictsTrimmedException e) {
                LOG.info("partition {}: {}", own.partition(), e.getMessage());
                while (own.applied() < instance && !shutdown.begun()) {
                    behind(instance + 1);
                }
                return;
            }
        }
    }

    /** An import is executed by what partition 0 decided, so it must have got there. */
    private boolean awaitImports(List<Entry> entries) {
        if (global == null) {
            return true;
        }
        long last = 0;
        for (Entry entry : entries) {
            if (entry instanceof Entry.Import imported) {
                last = Math.max(last, imported.instance());
            }
        }
        if (last == 0) {
            return true;
        }
        long needed = last;
        try {
            return global.progress.await(
                    () -> global.applied() >= needed, System.nanoTime() + STOP_CHECK_NS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void behind(long firstAvailable) {
        try {
            if (fetch.takeOver(own, firstAvailable - 1)) {
                sequel.executed(own.applied(), List.of());
            } else if (!shutdown.begun()) {
                LOG.warn(
                        "partition {}: no peer has a checkpoint at {} or later yet",
                        own.partition(),
                        firstAvailable - 1);
                shutdown.await(REFETCH_PAUSE_MS, TimeUnit.MILLISECONDS);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "partition " + own.partition() + ": a peer's checkpoint cannot be stored", e);
        }
    }
}
