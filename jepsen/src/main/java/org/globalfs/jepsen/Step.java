package org.globalfs.jepsen;

import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * An operation to do: how the history tells it, and how an agent is asked for it.
 *
 * @param seen the completion's value, of what the agent answered
 * @param patient whether it is asked again for a while when it fails with EIO: it changes nothing
 * @param answerMs how long an answer may take; after that its outcome is unknown
 */
record Step(
        String f,
        @Nullable Object value,
        Map<String, Object> request,
        UnaryOperator<@Nullable Object> seen,
        boolean patient,
        int answerMs) {

    private static final int ANSWER_MS = 20_000;

    /** The same of a read of content, whose lack of an answer is judged. */
    private static final int READ_ANSWER_MS = 30_000;

    /** The same of a write of content: longer than what {@code check} calls too long. */
    private static final int WRITE_ANSWER_MS = 61_000;

    Step(
            String f,
            @Nullable Object value,
            Map<String, Object> request,
            UnaryOperator<@Nullable Object> seen) {
        this(f, value, request, seen, false, ANSWER_MS);
    }

    /** The same, asked again when it fails with EIO. */
    Step patiently() {
        return new Step(f, value, request, seen, true, READ_ANSWER_MS);
    }

    /** The same, of content: a slow disk may take long for so much. */
    Step awaited() {
        return new Step(f, value, request, seen, patient, WRITE_ANSWER_MS);
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
