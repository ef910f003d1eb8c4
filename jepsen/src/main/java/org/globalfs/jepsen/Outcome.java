package org.globalfs.jepsen;

import org.jspecify.annotations.Nullable;

/**
 * What became of an operation.
 *
 * @param type {@code ok}; {@code fail}: certainly without effect; {@code info}: unknown
 * @param value what it returned
 * @param error a name such as ENOENT, or a text
 */
record Outcome(String type, @Nullable Object value, @Nullable String error) {
    static Outcome unknown(String error) {
        return new Outcome("info", null, error);
    }

    boolean is(String wanted) {
        return type.equals(wanted);
    }
}
