package org.globalfs.bench.multicast.member;

import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.ImportSource;
import org.globalfs.multicast.Learner;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.Multicast;
import org.jspecify.annotations.Nullable;

/**
 * The least of a state of ring 0 that a region imports from: which instances concern it, until it
 * imported them.
 */
final class ImportedGlobal implements Learner, ImportSource {
    private static final int INSTANCES_A_TRIM = 4096;
    private static final long POLL_NS = 50_000;

    private final int partition;
    private final MeasuredLog.Acknowledged acknowledged;
    private final ConcurrentSkipListSet<Long> concerning = new ConcurrentSkipListSet<>();
    private volatile @Nullable Multicast multicast;
    private volatile long applied;
    private volatile long lastTimestamp;
    private volatile long imported;

    ImportedGlobal(int partition, MeasuredLog.Acknowledged acknowledged) {
        this.partition = partition;
        this.acknowledged = acknowledged;
    }

    void started(Multicast node) {
        multicast = node;
        node.globalExecuted(applied);
    }

    @Override
    public long applied() {
        return applied;
    }

    @Override
    public long lastTimestamp() {
        return lastTimestamp;
    }

    /** Never changed here. */
    @Override
    public @Nullable Membership membership() {
        return null;
    }

    @Override
    public void deliver(long instance, List<Entry> entries) {
        for (Entry entry : entries) {
            if (entry instanceof Entry.Command command) {
                lastTimestamp = command.timestamp();
                concerning.add(instance);
                acknowledged.value(Values.id(command.value()));
            }
        }
        applied = instance;
        Multicast node = multicast;
        if (node != null) {
            node.globalExecuted(instance);
            trim(node, 0, instance);
        }
    }

    private static void trim(Multicast node, int ring, long instance) {
        if (instance % INSTANCES_A_TRIM == 0) {
            node.checkpointed(ring, instance);
        }
    }

    @Override
    public void behind(long firstAvailable) {
        applied = Math.max(applied, firstAvailable - 1);
    }

    @Override
    public long nextConcerning(int of, long after) {
        Long next = concerning.higher(after);
        return next == null ? -1 : next;
    }

    @Override
    public long importedThrough(int of) {
        return imported;
    }

    /** The region's learner: what is imported is executed here before it goes on. */
    Learner region(MeasuredLog.Acknowledged own) {
        return new Region(own);
    }

    private final class Region implements Learner {
        private final MeasuredLog.Acknowledged own;
        private volatile long regionApplied;
        private volatile long regionTimestamp;

        Region(MeasuredLog.Acknowledged own) {
            this.own = own;
        }

        @Override
        public long applied() {
            return regionApplied;
        }

        @Override
        public long lastTimestamp() {
            return regionTimestamp;
        }

        /** Never changed here. */
        @Override
        public @Nullable Membership membership() {
            return null;
        }

        @Override
        public void deliver(long instance, List<Entry> entries) {
            for (Entry entry : entries) {
                if (entry instanceof Entry.Command command) {
                    regionTimestamp = command.timestamp();
                    own.value(Values.id(command.value()));
                } else if (entry instanceof Entry.Import that && that.instance() > imported) {
                    awaitGlobal(that.instance());
                    imported = that.instance();
                    concerning.headSet(imported, true).clear();
                }
            }
            regionApplied = instance;
            Multicast node = multicast;
            if (node != null) {
                trim(node, partition, instance);
            }
        }

        private void awaitGlobal(long instance) {
            while (applied < instance && !Thread.currentThread().isInterrupted()) {
                LockSupport.parkNanos(POLL_NS);
            }
        }

        @Override
        public void behind(long firstAvailable) {
            regionApplied = Math.max(regionApplied, firstAvailable - 1);
        }
    }
}
