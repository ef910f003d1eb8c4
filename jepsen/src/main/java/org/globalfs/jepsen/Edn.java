package org.globalfs.jepsen;

import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Values as text in Clojure's notation: numbers, truths, texts, keywords, vectors, maps by keyword.
 */
final class Edn {
    private Edn() {}

    /** A name of Clojure's own kind, written {@code :name}. */
    record Keyword(String name) {}

    static String of(@Nullable Object value) {
        return switch (value) {
            case null -> "nil";
            case Number number -> number.toString();
            case Boolean truth -> truth.toString();
            case Keyword keyword -> ":" + keyword.name;
            case Collection<?> items ->
                    items.stream().map(Edn::of).collect(Collectors.joining(" ", "[", "]"));
            case Map<?, ?> fields ->
                    fields.entrySet().stream()
                            .map(field -> ":" + field.getKey() + " " + of(field.getValue()))
                            .collect(Collectors.joining(", ", "{", "}"));
            default -> '"' + value.toString().replace("\\", "\\\\").replace("\"", "\\\"") + '"';
        };
    }
}
