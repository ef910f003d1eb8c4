package org.globalfs.protocol;

import com.google.errorprone.annotations.FormatMethod;
import com.google.errorprone.annotations.FormatString;
import org.jspecify.annotations.Nullable;

/**
 * Checks that are always on: one that fails means that this process's state can no longer be
 * trusted, so the thread that met it must not go on to write or send anything.
 */
public final class Invariant {
    private Invariant() {}

    @Contract("false, _ -> fail")
    public static void check(boolean holds, String message) {
        if (!holds) {
            throw new Broken(message);
        }
    }

    /** Arguments are only formatted, and primitives only boxed, on failure. */
    @FormatMethod
    @Contract("false, _, _ -> fail")
    public static void check(boolean holds, @FormatString String message, long a) {
        if (!holds) {
            throw new Broken(String.format(message, a));
        }
    }

    @FormatMethod
    @Contract("false, _, _, _ -> fail")
    public static void check(boolean holds, @FormatString String message, long a, long b) {
        if (!holds) {
            throw new Broken(String.format(message, a, b));
        }
    }

    @FormatMethod
    @Contract("false, _, _ -> fail")
    public static void check(
            boolean holds, @FormatString String message, @Nullable Object... arguments) {
        if (!holds) {
            throw new Broken(String.format(message, arguments));
        }
    }

    /** For a branch that no valid state reaches: {@code throw Invariant.broken(...)}. */
    @FormatMethod
    public static Broken broken(@FormatString String message, @Nullable Object... arguments) {
        return new Broken(String.format(message, arguments));
    }

    /** A broken invariant; an Error, so that no handler of ordinary failures absorbs it. */
    public static final class Broken extends AssertionError {
        private static final long serialVersionUID = 1;

        private Broken(String message) {
            super(message);
        }
    }
}
