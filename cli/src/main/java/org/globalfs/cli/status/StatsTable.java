package org.globalfs.cli.status;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** A mount's statistics for people: its operations, slowest sum first, then everything else. */
public final class StatsTable {
    private final StringBuilder out = new StringBuilder();

    private StatsTable() {}

    /** {@code json}: what the mount's process answered. */
    public static String of(String json) {
        Object document = new Load(LoadSettings.builder().build()).loadFromString(json);
        StatsTable table = new StatsTable();
        if (document instanceof Map<?, ?> fields) {
            table.operations(fields);
            table.rest(fields);
        }
        return table.out.toString();
    }

    private void operations(Map<?, ?> fields) {
        line("OPERATION", "REQUESTS", "ERRORS", "TOTAL s", "MEAN ms", "P50 ms", "P99 ms", "MAX ms");
        if (!(fields.get("operations") instanceof List<?> operations)) {
            return;
        }
        operations.stream()
                .filter(Map.class::isInstance)
                .map(operation -> (Map<?, ?>) operation)
                .sorted((a, b) -> Long.compare(number(b, "totalUs"), number(a, "totalUs")))
                .forEach(this::operation);
    }

    private void operation(Map<?, ?> operation) {
        long requests = number(operation, "requests");
        line(
                String.valueOf(operation.get("operation")),
                Long.toString(requests),
                Long.toString(number(operation, "errors")),
                String.format(Locale.ROOT, "%.3f", number(operation, "totalUs") / 1e6),
                ms(number(operation, "totalUs") / Math.max(1, requests)),
                ms(number(operation, "p50Us")),
                ms(number(operation, "p99Us")),
                ms(number(operation, "maxUs")));
    }

    private void line(String name, String... columns) {
        out.append(String.format(Locale.ROOT, "%-16s", name));
        for (String column : columns) {
            out.append(String.format(Locale.ROOT, " %10s", column));
        }
        out.append('\n');
    }

    private void rest(Map<?, ?> fields) {
        out.append('\n');
        fields.forEach((name, value) -> {
            if (value instanceof Number) {
                field(name, value);
            }
        });
        if (fields.get("counters") instanceof Map<?, ?> counters) {
            counters.forEach(this::field);
        }
    }

    private void field(Object name, Object value) {
        out.append(String.format(Locale.ROOT, "%-22s %s%n", name, value));
    }

    private static String ms(long us) {
        return String.format(Locale.ROOT, "%.3f", us / 1e3);
    }

    private static long number(Map<?, ?> fields, String name) {
        return fields.get(name) instanceof Number number ? number.longValue() : 0;
    }
}
