package org.globalfs.replica.state.store;

/**
 * Resources of one partition's store.
 *
 * @param blockCacheBytes uncompressed blocks that RocksDB keeps in memory
 * @param writeBufferBytes unflushed writes after which RocksDB flushes by itself
 */
public record StateOptions(long blockCacheBytes, long writeBufferBytes) {

    public static StateOptions defaults() {
        return new StateOptions(32L << 20, 16L << 20);
    }
}
