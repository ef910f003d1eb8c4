package org.globalfs.datastore.cache.policy;

/**
 * What of a block is in the cache.
 *
 * @param chunks a bit by chunk index
 */
record Kept(long chunks, int chunkBytes) {
    long bytes() {
        return (long) Long.bitCount(chunks) * chunkBytes;
    }
}
