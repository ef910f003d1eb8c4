package org.globalfs.protocol.config;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.globalfs.protocol.discovery.Discovery;
import org.globalfs.protocol.discovery.RecordedStore;
import org.globalfs.protocol.discovery.StoreKind;
import org.jspecify.annotations.Nullable;

/**
 * Where a process believes that the cluster keeps the content of files. A cluster has one such
 * place, which its first server records: whoever believes otherwise is refused.
 *
 * @param buckets one a region, where content is in S3
 * @param cacheBeyondMs a round trip: content that is nearer is not read through a cache
 * @param toleratedLosses how many nodes may be lost without a block that counts as written though
 *     some of its homes are away; no more than it has parity chunks
 * @param upkeep how servers look after what is in buckets
 */
public record BlockStorage(
        StoreKind kind,
        List<S3Bucket> buckets,
        long cacheBeyondMs,
        int toleratedLosses,
        S3Upkeep upkeep) {
    /** Asking a cache takes about as long. */
    public static final long DEFAULT_CACHE_BEYOND_MS = 2;

    public static final int DEFAULT_TOLERATED_LOSSES = 1;
    private static final int MOST_PARITY = 8;

    public static final BlockStorage STORAGE_NODES = new BlockStorage(StoreKind.DHT, List.of());

    public BlockStorage {
        buckets = List.copyOf(buckets);
    }

    public BlockStorage(StoreKind kind, List<S3Bucket> buckets) {
        this(kind, buckets, DEFAULT_CACHE_BEYOND_MS, DEFAULT_TOLERATED_LOSSES, S3Upkeep.DEFAULT);
    }

    static BlockStorage read(Yaml parent) throws ConfigException {
        Yaml yaml = parent.optionalMapping("blocks").orElse(null);
        if (yaml == null) {
            return STORAGE_NODES;
        }
        StoreKind kind = yaml.choice("store", StoreKind.class, StoreKind.DHT);
        List<S3Bucket> buckets = new ArrayList<>();
        Set<String> regions = new HashSet<>();
        Set<String> places = new HashSet<>();
        for (Yaml each : yaml.optionalList("s3")) {
            S3Bucket bucket = S3Bucket.read(each);
            if (!regions.add(bucket.region())) {
                throw each.error("region", "'" + bucket.region() + "' is listed twice");
            }
            if (!places.add(bucket.endpoint() + " " + bucket.bucket())) {
                throw each.error(
                        "bucket",
                        "'" + bucket.bucket() + "' is another region's: give each its own");
            }
            buckets.add(bucket);
        }
        if (kind == StoreKind.S3 && buckets.isEmpty()) {
            throw yaml.error("s3", "is missing or empty: list the bucket of each region");
        }
        if (kind == StoreKind.DHT && !buckets.isEmpty()) {
            throw yaml.error("s3", "goes with 'store: s3': add that, or remove the buckets");
        }
        for (String key : List.of("cacheBeyond", "toleratedLosses")) {
            if (kind == StoreKind.S3 && yaml.has(key)) {
                throw yaml.error(key, "goes with 'store: dht': remove it");
            }
        }
        long cacheBeyondMs = yaml.durationMs("cacheBeyond", DEFAULT_CACHE_BEYOND_MS);
        int toleratedLosses =
                (int) yaml.integer("toleratedLosses", 1, MOST_PARITY, DEFAULT_TOLERATED_LOSSES);
        if (kind == StoreKind.DHT) {
            S3Upkeep.refuse(yaml);
        }
        S3Upkeep upkeep = S3Upkeep.read(yaml);
        yaml.finish();
        return new BlockStorage(kind, buckets, cacheBeyondMs, toleratedLosses, upkeep);
    }

    /** Whether a server that has these roles, in a cluster of these regions, can use it. */
    void check(Yaml yaml, Roles roles, Topology topology) throws ConfigException {
        if (kind == StoreKind.DHT) {
            return;
        }
        if (!roles.storage().isEmpty()) {
            throw yaml.error(
                    "roles.storage", "is for 'blocks.store: dht': remove it, or the key 'blocks'");
        }
        for (Topology.Region region : topology.regions()) {
            if (bucket(region.name()) == null) {
                throw yaml.error(
                        "blocks.s3", "has no bucket for region '" + region.name() + "': add it");
            }
        }
        for (S3Bucket bucket : buckets) {
            if (topology.region(bucket.region()).isEmpty()) {
                throw yaml.error(
                        "blocks.s3",
                        "region '"
                                + bucket.region()
                                + "' is not in the topology: correct its name");
            }
        }
    }

    public @Nullable S3Bucket bucket(String region) {
        for (S3Bucket bucket : buckets) {
            if (bucket.region().equals(region)) {
                return bucket;
            }
        }
        return null;
    }

    /**
     * Records, for a server, where the cluster keeps its blocks, unless that was done.
     *
     * @param usesNodes the cluster has, or had, storage nodes; such a one may have no record
     * @throws ConfigException it keeps them elsewhere
     */
    public RecordedStore recordIn(Discovery discovery, Topology topology, boolean usesNodes)
            throws ConfigException, IOException {
        while (true) {
            Optional<RecordedStore> recorded = discovery.recordedStore();
            if (recorded.isEmpty() && usesNodes) {
                checkKind(StoreKind.DHT, topology.cluster());
            }
            RecordedStore next = with(recorded, topology);
            if (recorded.equals(Optional.of(next)) || discovery.recordStore(recorded, next)) {
                return next;
            }
        }
    }

    private RecordedStore with(Optional<RecordedStore> recorded, Topology topology)
            throws ConfigException {
        List<RecordedStore.Bucket> all = new ArrayList<>();
        if (recorded.isPresent()) {
            agree(recorded.get(), topology.cluster());
            all.addAll(recorded.get().buckets());
        }
        for (Topology.Region region : topology.regions()) {
            S3Bucket bucket = bucket(region.name());
            if (bucket != null && all.stream().noneMatch(b -> b.region().equals(region.name()))) {
                all.add(
                        new RecordedStore.Bucket(
                                region.name(), region.partition(), bucket.bucket()));
            }
        }
        return new RecordedStore(kind, all);
    }

    /**
     * What servers recorded, for a client; its buckets, should they be more, are none of the
     * cluster's yet.
     *
     * @throws ConfigException the cluster keeps its blocks elsewhere
     */
    public RecordedStore recordedIn(Discovery discovery, String cluster)
            throws ConfigException, IOException {
        Optional<RecordedStore> recorded = discovery.recordedStore();
        if (recorded.isEmpty() && kind != StoreKind.DHT) {
            throw new ConfigException(
                    "no server of cluster "
                            + cluster
                            + " has recorded yet that its blocks are in '"
                            + kind.word()
                            + "': start its servers first, with the same key 'blocks'");
        }
        RecordedStore store = recorded.orElse(new RecordedStore(StoreKind.DHT, List.of()));
        agree(store, cluster);
        return store;
    }

    private void agree(RecordedStore recorded, String cluster) throws ConfigException {
        checkKind(recorded.kind(), cluster);
        for (RecordedStore.Bucket theirs : recorded.buckets()) {
            S3Bucket ours = bucket(theirs.region());
            if (ours != null && ours.bucket().equals(theirs.name())) {
                continue;
            }
            throw new ConfigException(
                    "cluster "
                            + cluster
                            + " keeps blocks of region "
                            + theirs.region()
                            + " in bucket '"
                            + theirs.name()
                            + "', and this configuration "
                            + (ours == null
                                    ? "names none there: add it to 'blocks.s3'"
                                    : "says '"
                                            + ours.bucket()
                                            + "': correct 'blocks.s3', or make a cluster of"
                                            + " another name"));
        }
    }

    private void checkKind(StoreKind recorded, String cluster) throws ConfigException {
        if (kind != recorded) {
            throw new ConfigException(
                    "cluster "
                            + cluster
                            + " keeps its blocks in '"
                            + recorded.word()
                            + "', and this configuration says '"
                            + kind.word()
                            + "': correct 'blocks.store', or make a cluster of another name");
        }
    }
}
