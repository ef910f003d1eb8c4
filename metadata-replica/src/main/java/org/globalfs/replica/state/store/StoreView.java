package org.globalfs.replica.state.store;

import java.util.Arrays;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksIterator;
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
        try (RocksIterator rows = store.iterate(table, options)) {
            for (rows.seek(from); rows.isValid(); rows.next()) {
                byte[] key = rows.key();
                if (!Keys.startsWith(key, prefix) || !visitor.visit(key, rows.value())) {
                    return;
                }
            }
            store.check(rows);
        }
    }

    @Override
    public @Nullable Row floor(Table table, byte[] prefix, byte[] at) {
        try (RocksIterator rows = store.iterate(table, options)) {
            rows.seekForPrev(at);
            if (!rows.isValid()) {
                store.check(rows);
                return null;
            }
            byte[] key = rows.key();
            return Keys.startsWith(key, prefix) && Arrays.compareUnsigned(key, at) <= 0
                    ? new Row(key, rows.value())
                    : null;
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
