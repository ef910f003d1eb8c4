package org.globalfs.protocol.discovery;

import java.util.List;
import java.util.Optional;

/**
 * Where a cluster keeps its blocks: recorded when its first server starts, and the same for every
 * process from then on.
 *
 * @param buckets in the order in which they came: blocks name the first n of them, so none is ever
 *     moved or taken out. Empty on storage nodes
 */
public record RecordedStore(StoreKind kind, List<Bucket> buckets) {

    /** A region's bucket. */
    public record Bucket(String region, int partition, String name) {}

    public RecordedStore {
        buckets = List.copyOf(buckets);
    }

    public Optional<Bucket> bucket(String region) {
        return buckets.stream().filter(b -> b.region.equals(region)).findFirst();
    }

    /** Whether it has the other's buckets, and then more. */
    boolean extendsOther(RecordedStore other) {
        return kind == other.kind
                && buckets.size() > other.buckets.size()
                && buckets.subList(0, other.buckets.size()).equals(other.buckets);
    }
}
