package org.globalfs.replica.state.store;

import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.Snapshot;

/**
 * Committed records: the newest ones, or those of a snapshot held until {@link #close}. Usable by
 * one thread at a time.
 */
public final class StoreView implements Records, AutoCloseable {

    private final Store store;
    private final ReadOptions options = new ReadOptions();
    private final @Nullable Snapshot snapshot;

    private StoreView(Store store, @Nullable Snapshot snapshot) {
        this.store = store;
        this.snapshot = snapshot;
        if (snapshot != null) {
            options.setSnapshot(snapshot);
        }
    }

    static StoreView newest(Store store) {
        return new StoreView(store, null);
    }

    public static StoreView snapshot(Store store) {
        return new StoreView(store, store.snapshot());
    }

    @Override
    public byte @Nullable [] get(Table table, byte[] key) {
        return store.get(table, key, options);
    }

    @Override
    public void scan(Table table, byte[] prefix, byte[] from, Visitor visitor) {
        try (PrefixIterator rows = new PrefixIterator(store, table, prefix, snapshot)) {
            rows.seek(from);
            for (byte[] key = rows.key(); key != null; key = rows.key()) {
                if (!visitor.visit(key, rows.value())) {
                    return;
                }
                rows.next();
            }
        }
    }

    @Override
    public void scanBack(Table table, byte[] prefix, byte[] from, Visitor visitor) {
        try (PrefixIterator rows = new PrefixIterator(store, table, prefix, snapshot)) {
            rows.seekBack(from);
            for (byte[] key = rows.key(); key != null; key = rows.key()) {
                if (!visitor.visit(key, rows.value())) {
                    return;
                }
                rows.previous();
            }
        }
    }

    @Override
    public @Nullable Row floor(Table table, byte[] prefix, byte[] at) {
        try (PrefixIterator rows = new PrefixIterator(store, table, prefix, snapshot)) {
            rows.seekBack(at);
            byte[] key = rows.key();
            return key == null ? null : new Row(key, rows.value());
        }
    }

    @Override
    public void close() {
        options.close();
        if (snapshot != null) {
            store.release(snapshot);
            snapshot.close();
        }
    }
}
