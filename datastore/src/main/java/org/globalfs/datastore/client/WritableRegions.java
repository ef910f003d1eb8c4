package org.globalfs.datastore.client;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.globalfs.protocol.discovery.StorageSite;

/**
 * Which regions take chunks at the moment: those with a node that answers and has not just refused
 * one. For all operations of a client, so that only one has to learn it. Thread-safe.
 */
final class WritableRegions {
    /** Whoever is asked at its turn anyway says before that whether it is so still. */
    private static final long REFUSED_NS = TimeUnit.SECONDS.toNanos(10);

    private final Predicate<String> suspect;
    private final LongSupplier nowNs;

    /** Full, or with a failed disk: when that was, by id. */
    private final Map<String, Long> refusedNs = new ConcurrentHashMap<>();

    /**
     * @param suspect whether the node of an id is silent
     * @param nowNs a monotonic clock
     */
    WritableRegions(Predicate<String> suspect, LongSupplier nowNs) {
        this.suspect = suspect;
        this.nowNs = nowNs;
    }

    /** The node answered that it does not take a chunk. */
    void refused(String node) {
        refusedNs.put(node, nowNs.getAsLong());
    }

    /** The node took a chunk. */
    void took(String node) {
        if (!refusedNs.isEmpty()) {
            refusedNs.remove(node);
        }
    }

    /**
     * The most data chunks of a block of all regions that survives the loss of any one, written to
     * those of these nodes that take chunks: none of r regions may have more than m chunks, so that
     * there are r * m at most.
     *
     * @return 0: fewer than two regions take chunks, and no code makes it safe
     */
    int mostDataChunks(List<StorageSite> nodes, int parityChunks) {
        Set<String> regions = new HashSet<>();
        for (StorageSite node : nodes) {
            if (!regions.contains(node.region()) && takesChunks(node.id())) {
                regions.add(node.region());
            }
        }
        return Math.max(0, regions.size() - 1) * parityChunks;
    }

    private boolean takesChunks(String node) {
        if (suspect.test(node)) {
            return false;
        }
        Long refused = refusedNs.isEmpty() ? null : refusedNs.get(node);
        return refused == null || nowNs.getAsLong() - refused >= REFUSED_NS;
    }
}
