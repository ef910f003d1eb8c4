package org.globalfs.jepsen;

import java.util.List;
import java.util.Map;
import java.util.Random;

/** What clients do, in a place of its own. */
interface Workload {

    /** What the checker calls it. */
    String checker();

    /** How many operations a history may have: what the checker can order. */
    long mostOperations();

    /** Requests before the first operation, by anybody, and before a client's first one. */
    List<Map<String, Object>> preparations();

    default List<Map<String, Object>> preparations(long process) {
        return List.of();
    }

    /** Operations before all others, by one client. */
    default List<Step> first() {
        return List.of();
    }

    /** The next operation of a client. Thread-safe. */
    Step next(long process, Random random);

    /** What came of it. Thread-safe. */
    default void done(long process, Step step, Outcome outcome) {}

    /** Operations at the end, when nothing is broken any more. */
    default List<Step> last() {
        return List.of();
    }
}
