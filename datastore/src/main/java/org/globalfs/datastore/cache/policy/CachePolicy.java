package org.globalfs.datastore.cache.policy;

import java.util.Map;

/**
 * Decides which chunks are in the cache, from the requests that it sees. Not thread-safe.
 *
 * <p>Chunks come into the cache because of reads alone: after one, those of the block are fetched
 * that the policy wants.
 */
public interface CachePolicy {
    /** The chunks of a block that are in the cache now: a bit by chunk index. */
    long cached(BlockKey key);

    /** A block is asked for. */
    void asked(BlockKey key, ChunkLayout layout);

    /** A block was read: which of its chunks, that are not in the cache, should come there now. */
    long wanted(BlockKey key, ChunkLayout layout);

    /**
     * Chunks of a block came into the cache. Returns what has to leave it for them, perhaps some of
     * themselves.
     */
    Map<BlockKey, Long> add(BlockKey key, ChunkLayout layout, long chunks);

    /** Chunks of a block are in the cache no more. */
    void remove(BlockKey key, long chunks);

    /** A period ends. */
    void endPeriod();
}
