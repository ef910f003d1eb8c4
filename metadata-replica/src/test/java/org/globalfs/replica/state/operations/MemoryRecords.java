package org.globalfs.replica.state.operations;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.MutableRecords;
import org.globalfs.replica.state.model.Table;
import org.jspecify.annotations.Nullable;

/** Tables as sorted maps. */
public class MemoryRecords implements MutableRecords {

    private final Map<Table, NavigableMap<byte[], byte[]>> tables = new EnumMap<>(Table.class);

    public MemoryRecords() {
        for (Table table : Table.values()) {
            tables.put(table, new TreeMap<>(Arrays::compareUnsigned));
        }
    }

    public NavigableMap<byte[], byte[]> table(Table table) {
        return Objects.requireNonNull(tables.get(table));
    }

    @Override
    public byte @Nullable [] get(Table table, byte[] key) {
        return table(table).get(key);
    }

    @Override
    public void put(Table table, byte[] key, byte[] value) {
        table(table).put(key, value);
    }

    @Override
    public void delete(Table table, byte[] key) {
        table(table).remove(key);
    }

    @Override
    public void scan(Table table, byte[] prefix, byte[] from, Visitor visitor) {
        for (Map.Entry<byte[], byte[]> row :
                List.copyOf(table(table).tailMap(from, true).entrySet())) {
            if (!Keys.startsWith(row.getKey(), prefix)
                    || !visitor.visit(row.getKey(), row.getValue())) {
                return;
            }
        }
    }

    @Override
    public void scanBack(Table table, byte[] prefix, byte[] from, Visitor visitor) {
        Map.Entry<byte[], byte[]> row = table(table).floorEntry(from);
        while (row != null
                && Keys.startsWith(row.getKey(), prefix)
                && visitor.visit(row.getKey(), row.getValue())) {
            row = table(table).lowerEntry(row.getKey());
        }
    }

    @Override
    public @Nullable Row floor(Table table, byte[] prefix, byte[] at) {
        Map.Entry<byte[], byte[]> row = table(table).floorEntry(at);
        return row == null || !Keys.startsWith(row.getKey(), prefix)
                ? null
                : new Row(row.getKey(), row.getValue());
    }
}
