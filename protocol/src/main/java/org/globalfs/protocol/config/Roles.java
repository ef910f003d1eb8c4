package org.globalfs.protocol.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.globalfs.protocol.DiskReserve;

/** What one server process does. */
public record Roles(
        Optional<ReplicaRole> replica,
        Optional<OracleRole> oracle,
        List<StorageRole> storage,
        Optional<CacheRole> cache,
        Optional<ZooKeeperRole> zookeeper) {

    /**
     * A metadata replica; its addresses are in the topology.
     *
     * @param reserve while its disk has less free, updates that need room are refused. Smaller than
     *     storage nodes', so that those refuse first
     * @param sweepPeriodMs from one search for blocks that no file has to the next; 0: never
     * @param sweepGraceMs how old such a block has to be before it is deleted
     * @param followBytesPerSecond the most that is copied so that content follows files that were
     *     moved to this region; 0: it stays where it is
     */
    public record ReplicaRole(
            int id,
            DiskReserve reserve,
            long sweepPeriodMs,
            long sweepGraceMs,
            long followBytesPerSecond) {
        public static final long DEFAULT_FOLLOW_BYTES_PER_SECOND = 64L << 20;
        public static final long DEFAULT_SWEEP_PERIOD_MS = 3_600_000;
        public static final long DEFAULT_SWEEP_GRACE_MS = 3_600_000;
        public static final DiskReserve DEFAULT_RESERVE = new DiskReserve(1L << 30, 5);
    }

    /**
     * A region's partition oracle.
     *
     * @param policy the file that says which trees move by themselves
     * @param reportPeriodMs how often mounts and oracles report use
     */
    public record OracleRole(int port, Optional<Path> policy, long reportPeriodMs) {
        public static final long DEFAULT_REPORT_PERIOD_MS = 5_000;
    }

    /**
     * A storage node.
     *
     * @param id a name unique in the cluster
     * @param capacityBytes how much it may hold
     * @param reserve how much of its disk it leaves free
     * @param scrubPeriodMs time in which it reads all its chunks once; 0: never
     * @param scrubBytesPerSecond the most that it reads for that
     * @param repairGraceMs how long another node has to be away before its chunks are made anew
     * @param repairBytesPerSecond the most that it sends to others for that, and for moving chunks
     * @param compactionBytesPerSecond the most that it copies to give back the space of deleted
     *     chunks
     * @param weight its share of the chunks, relative to the other nodes of its datacenter
     */
    public record StorageRole(
            String id,
            int port,
            Path data,
            long capacityBytes,
            DiskReserve reserve,
            long scrubPeriodMs,
            long scrubBytesPerSecond,
            long repairGraceMs,
            long repairBytesPerSecond,
            long compactionBytesPerSecond,
            double weight) {
        /** One segment: a node with less is full as soon as it has chunks of a few blocks. */
        static final long LEAST_CAPACITY_BYTES = 64L << 20;

        /** With less, or none, deleted content would fill the disk of a node that is in use. */
        static final long LEAST_COMPACTION_BYTES_PER_SECOND = 1L << 20;

        public static final long DEFAULT_COMPACTION_BYTES_PER_SECOND = 64L << 20;

        public static final long DEFAULT_REPAIR_GRACE_MS = 600_000;
        public static final long DEFAULT_REPAIR_BYTES_PER_SECOND = 64L << 20;
        public static final long DEFAULT_SCRUB_PERIOD_MS = 7 * 24 * 3_600_000L;
        public static final long DEFAULT_SCRUB_BYTES_PER_SECOND = 32L << 20;
        public static final DiskReserve DEFAULT_RESERVE = new DiskReserve(2L << 30, 10);
        static final double LEAST_WEIGHT = 0.01;
        static final double MOST_WEIGHT = 1_000;
    }

    /**
     * A cache of other regions' blocks.
     *
     * @param capacityBytes how much it may hold
     * @param reserve how much of its disk it leaves free
     * @param chunks of each block, where the policy has a fixed number
     * @param periodMs from one plan to the next
     * @param fetchBytesPerSecond the most that it gets from storage nodes
     */
    public record CacheRole(
            int port,
            Path data,
            long capacityBytes,
            DiskReserve reserve,
            CachePolicyKind policy,
            int chunks,
            long periodMs,
            long fetchBytesPerSecond) {
        public static final long DEFAULT_CAPACITY_BYTES = 4L << 30;
        public static final int DEFAULT_CHUNKS = 5;
        public static final long DEFAULT_PERIOD_MS = 30_000;
        public static final long DEFAULT_FETCH_BYTES_PER_SECOND = 64L << 20;

        /** More than other roles', so that a full disk stops the cache first. */
        public static final DiskReserve DEFAULT_RESERVE = new DiskReserve(4L << 30, 15);
    }

    /** An embedded ZooKeeper server, for development only. */
    public record ZooKeeperRole(int port) {}

    public Roles {
        storage = List.copyOf(storage);
    }

    public boolean isEmpty() {
        return !needsTopology() && zookeeper.isEmpty();
    }

    /** Anything that belongs to a region. */
    public boolean needsTopology() {
        return replica.isPresent() || oracle.isPresent() || !storage.isEmpty() || cache.isPresent();
    }
}
