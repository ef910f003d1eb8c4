package org.globalfs.replica.state.store;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;
import org.rocksdb.WriteBatch;

/**
 * Uncommitted changes of one instance over the store: reads see them, {@link #commit} writes them
 * as one batch.
 */
public final class Overlay implements MutableRecords {

    /** Stands for a deleted record: a stored value is never empty. */
    private static final byte[] DELETED = new byte[0];

    private final Store store;
    private final Map<Table, NavigableMap<byte[], byte[]>> changes = new EnumMap<>(Table.class);

    public Overlay(Store store) {
        this.store = store;
        for (Table table : Table.values()) {
            changes.put(table, new TreeMap<>(Arrays::compareUnsigned));
        }
    }

    private NavigableMap<byte[], byte[]> changes(Table table) {
        return Objects.requireNonNull(changes.get(table));
    }

    private static boolean isDeleted(byte[] value) {
        return value.length == 0;
    }

    @Override
    public byte @Nullable [] get(Table table, byte[] key) {
        byte[] changed = changes(table).get(key);
        if (changed != null) {
            return isDeleted(changed) ? null : changed;
        }
        return store.get(table, key);
    }

    @Override
    public void put(Table table, byte[] key, byte[] value) {
        changes(table).put(key, value);
    }

    @Override
    public void delete(Table table, byte[] key) {
        changes(table).put(key, DELETED);
    }

    @Override
    public void scan(Table table, byte[] prefix, byte[] from, Visitor visitor) {
        try (PrefixIterator stored = new PrefixIterator(store, table, prefix, null)) {
            stored.seek(from);
            merge(stored, pendingChanges(table, prefix, from).iterator(), visitor);
        }
    }

    private static void merge(
            PrefixIterator stored, Iterator<Map.Entry<byte[], byte[]>> changed, Visitor visitor) {
        Map.@Nullable Entry<byte[], byte[]> change = changed.hasNext() ? changed.next() : null;
        while (true) {
            byte[] key = stored.key();
            if (key == null && change == null) {
                return;
            }
            int order =
                    key == null
                            ? 1
                            : change == null ? -1 : Arrays.compareUnsigned(key, change.getKey());
            if (order < 0) {
                if (!visitor.visit(Objects.requireNonNull(key), stored.value())) {
                    return;
                }
                stored.next();
                continue;
            }
            if (order == 0) {
                stored.next();
            }
            Map.Entry<byte[], byte[]> visited = Objects.requireNonNull(change);
            if (!isDeleted(visited.getValue())
                    && !visitor.visit(visited.getKey(), visited.getValue())) {
                return;
            }
            change = changed.hasNext() ? changed.next() : null;
        }
    }

    /** A copy, because a visitor may change records. */
    private List<Map.Entry<byte[], byte[]>> pendingChanges(
            Table table, byte[] prefix, byte[] from) {
        List<Map.Entry<byte[], byte[]>> pending = new ArrayList<>();
        for (Map.Entry<byte[], byte[]> change : changes(table).tailMap(from, true).entrySet()) {
            if (!Keys.startsWith(change.getKey(), prefix)) {
                break;
            }
            pending.add(Map.entry(change.getKey(), change.getValue()));
        }
        return pending;
    }

    /** What a visitor changes at or above where it is does not make it go there again. */
    @Override
    public void scanBack(Table table, byte[] prefix, byte[] from, Visitor visitor) {
        NavigableMap<byte[], byte[]> pending = changes(table);
        Map.@Nullable Entry<byte[], byte[]> change = within(prefix, pending.floorEntry(from));
        try (PrefixIterator stored = new PrefixIterator(store, table, prefix, null)) {
            stored.seekBack(from);
            byte[] key = stored.key();
            while (key != null || change != null) {
                int order =
                        key == null
                                ? -1
                                : change == null ? 1 : Arrays.compareUnsigned(key, change.getKey());
                byte[] at = order > 0 ? key : Objects.requireNonNull(change).getKey();
                byte[] value =
                        order > 0 ? stored.value() : Objects.requireNonNull(change).getValue();
                if (!isDeleted(value) && !visitor.visit(Objects.requireNonNull(at), value)) {
                    return;
                }
                if (order >= 0) {
                    stored.previous();
                    key = stored.key();
                }
                change = within(prefix, pending.lowerEntry(at));
            }
        }
    }

    private static Map.@Nullable Entry<byte[], byte[]> within(
            byte[] prefix, Map.@Nullable Entry<byte[], byte[]> change) {
        return change != null && Keys.startsWith(change.getKey(), prefix) ? change : null;
    }

    @Override
    public @Nullable Row floor(Table table, byte[] prefix, byte[] at) {
        Map.@Nullable Entry<byte[], byte[]> change = changes(table).floorEntry(at);
        boolean isAnswer =
                change != null
                        && !isDeleted(change.getValue())
                        && Keys.startsWith(change.getKey(), prefix);
        // Below a changed record that is there, the store may have many that are not any more.
        byte[] least = isAnswer && change != null ? change.getKey() : prefix;
        try (PrefixIterator stored = new PrefixIterator(store, table, prefix, least, null)) {
            stored.seekBack(at);
            return floor(stored, changes(table), prefix, at);
        }
    }

    private static @Nullable Row floor(
            PrefixIterator stored, NavigableMap<byte[], byte[]> changes, byte[] prefix, byte[] at) {
        Map.@Nullable Entry<byte[], byte[]> change = changes.floorEntry(at);
        while (true) {
            byte[] key = stored.key();
            if (change != null && !Keys.startsWith(change.getKey(), prefix)) {
                change = null;
            }
            if (key == null && change == null) {
                return null;
            }
            int order =
                    key == null
                            ? -1
                            : change == null ? 1 : Arrays.compareUnsigned(key, change.getKey());
            if (order > 0) {
                return new Row(Objects.requireNonNull(key), stored.value());
            }
            Map.Entry<byte[], byte[]> candidate = Objects.requireNonNull(change);
            if (!isDeleted(candidate.getValue())) {
                return new Row(candidate.getKey(), candidate.getValue());
            }
            if (order == 0) {
                stored.previous();
            }
            change = changes.lowerEntry(candidate.getKey());
        }
    }

    /** Writes all changes atomically and starts anew. */
    public void commit() {
        try (WriteBatch batch = new WriteBatch()) {
            for (Map.Entry<Table, NavigableMap<byte[], byte[]>> table : changes.entrySet()) {
                for (Map.Entry<byte[], byte[]> change : table.getValue().entrySet()) {
                    if (isDeleted(change.getValue())) {
                        store.delete(batch, table.getKey(), change.getKey());
                    } else {
                        store.put(batch, table.getKey(), change.getKey(), change.getValue());
                    }
                }
                table.getValue().clear();
            }
            store.write(batch);
        }
    }
}
