package org.globalfs.datastore.rocksdb;

import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.Filter;
import org.rocksdb.IndexType;

/** How RocksDB's files are laid out. */
public final class TableFormat {

    /**
     * Indexes and filters are read in pieces. Whole ones, of files with a million records, do not
     * fit into a shard of the cache: each record looked up would read and check a megabyte.
     */
    private static final int METADATA_BLOCK_BYTES = 8 << 10;

    private TableFormat() {}

    /** Of which only the cache takes memory, however many records there are. */
    public static BlockBasedTableConfig of(Cache cache, Filter filter) {
        return new BlockBasedTableConfig()
                .setBlockCache(cache)
                .setFilterPolicy(filter)
                .setIndexType(IndexType.kTwoLevelIndexSearch)
                .setPartitionFilters(true)
                .setMetadataBlockSize(METADATA_BLOCK_BYTES)
                .setCacheIndexAndFilterBlocks(true)
                .setCacheIndexAndFilterBlocksWithHighPriority(true)
                .setPinTopLevelIndexAndFilter(true)
                .setPinL0FilterAndIndexBlocksInCache(true)
                .setFormatVersion(5);
    }
}
