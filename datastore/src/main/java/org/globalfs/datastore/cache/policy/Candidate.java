package org.globalfs.datastore.cache.policy;

/**
 * A block that was asked for lately.
 *
 * @param popularity its share of all requests
 */
public record Candidate(BlockKey key, double popularity, ChunkLayout layout) {}
