package org.globalfs.datastore.cache.policy;

/**
 * Decides which chunks are in the cache, from the requests that it sees. Not thread-safe.
 *
 * <p>Chunks come into the cache by reads alone: whoever has read a block leaves those there that
 * the policy wants.
 */
public interface CachePolicy {
    /** The chunks of a block that are in the cache now: a bit by chunk index. */
    long cached(BlockKey key);

    /** A block is asked for. */
    void asked(BlockKey key, ChunkLayout layout);

    /** A block was read, and what of it is wanted comes into the cache. */
    void read(BlockKey key, ChunkLayout layout);

    /** A period ends. */
    void endPeriod();
}
