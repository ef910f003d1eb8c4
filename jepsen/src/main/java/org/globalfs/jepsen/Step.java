package org.globalfs.jepsen;

import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An operation to do: how the history tells it, and how an agent is asked for it.
 *
 * @param seen the completion's value, of what the agent answered
 * @param patient whether it is asked again for a while when it fails with EIO: it changes nothing
 */
record Step(
        String f,
        @Nullable Object value,
        Map<String, Object> request,
        UnaryOperator<@Nullable Object> seen,
        boolean patient) {

    Step(
            String f,
            @Nullable Object value,
            Map<String, Object> request,
            UnaryOperator<@Nullable Object> seen) {
        this(f, value, request, seen, false);
    }

    /** The same, asked again when it fails with EIO. */
    Step patiently() {
        return new Step(f, value, request, seen, true);
    }

    /** An operation that returns nothing: its completion repeats its value. */
    static Step update(String f, @Nullable Object value, Map<String, Object> request) {
        return new Step(f, value, request, answer -> value);
    }

    /** An operation that returns what the agent answers. */
    static Step read(String f, @Nullable Object value, Map<String, Object> request) {
        return new Step(f, value, request, answer -> answer);
    }
}
