package org.globalfs.datastore.cache.policy;

import java.util.Map;

/**
 * Which chunks the cache is to keep for a period.
 *
 * @param chunks a bit by chunk index, of each block that has any
 * @param bytes of all of them
 */
public record CachePlan(Map<BlockKey, Long> chunks, long bytes) {
    public static final CachePlan EMPTY = new CachePlan(Map.of(), 0);

    /** The chunks of a block that are to be kept: a bit by chunk index. */
    public long of(BlockKey key) {
        return chunks.getOrDefault(key, 0L);
    }
}
