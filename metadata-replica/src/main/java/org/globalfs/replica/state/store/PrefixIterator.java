package org.globalfs.replica.state.store;

import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Snapshot;

/**
 * Goes through the records of a table whose key begins with a prefix, and never looks beyond them:
 * RocksDB would walk over everything that was deleted there, up to the next record that is left,
 * and that may be all of a tree that was removed or moved away.
 */
final class PrefixIterator implements AutoCloseable {
    private final Store store;
    private final ReadOptions options = new ReadOptions();
    private final @Nullable Slice lower;
    private final @Nullable Slice upper;
    private final RocksIterator rows;

    /**
     * @param prefix empty: all records
     * @param snapshot null: what is committed now
     */
    PrefixIterator(Store store, Table table, byte[] prefix, @Nullable Snapshot snapshot) {
        this(store, table, prefix, prefix, snapshot);
    }

    /**
     * @param least nothing before this key is looked at
     */
    PrefixIterator(
            Store store, Table table, byte[] prefix, byte[] least, @Nullable Snapshot snapshot) {
        this.store = store;
        byte[] end = Keys.after(prefix);
        lower = least.length == 0 ? null : new Slice(least);
        upper = end == null ? null : new Slice(end);
        if (lower != null) {
            options.setIterateLowerBound(lower);
        }
        if (upper != null) {
            options.setIterateUpperBound(upper);
        }
        if (snapshot != null) {
            options.setSnapshot(snapshot);
        }
        rows = store.iterate(table, options);
    }

    /** To the first record from this key on. */
    void seek(byte[] from) {
        rows.seek(from);
    }

    /** To the last record up to this key. */
    void seekBack(byte[] at) {
        rows.seekForPrev(at);
    }

    void next() {
        rows.next();
    }

    void previous() {
        rows.prev();
    }

    /**
     * The key of the record where it is; null: there is none.
     *
     * @throws StateException the store cannot be read
     */
    byte @Nullable [] key() {
        if (rows.isValid()) {
            return rows.key();
        }
        store.check(rows);
        return null;
    }

    /** Of the record where it is. */
    byte[] value() {
        return rows.value();
    }

    @Override
    public void close() {
        rows.close();
        options.close();
        if (lower != null) {
            lower.close();
        }
        if (upper != null) {
            upper.close();
        }
    }
}
