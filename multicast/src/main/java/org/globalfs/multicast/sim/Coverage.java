package org.globalfs.multicast.sim;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** Counts what happened in runs, to see that nothing the simulator is there for is left out. */
public final class Coverage {

    /** What is worth counting. */
    enum Kind {
        ELECTIONS,
        CRASHES,
        FULL_DISKS,
        LOGS_LOST,
        PAUSES,
        CLOCK_JUMPS,
        VALUES_PASSED_ON,
        CHANGES_PROPOSED,
        CHANGES_IN_FORCE,
        CHECKPOINTS_FETCHED,
        IMPORTS,
        DUPLICATES_IGNORED,
        WRITES_ACKNOWLEDGED,
        INDEXED_READS,
        LEASE_READS,
        MERGED,
        MERGES_TAKEN_OVER,
        RINGS_LEFT
    }

    private final EnumMap<Kind, Long> counts = new EnumMap<>(Kind.class);

    public Coverage() {
        for (Kind kind : Kind.values()) {
            counts.put(kind, 0L);
        }
    }

    void count(Kind kind) {
        counts.merge(kind, 1L, Long::sum);
    }

    /** Adds another run's counts to these. */
    public void add(Coverage other) {
        other.counts.forEach((kind, count) -> counts.merge(kind, count, Long::sum));
    }

    Map<Kind, Long> counts() {
        return Collections.unmodifiableMap(counts);
    }

    @Override
    public String toString() {
        StringJoiner text = new StringJoiner(", ");
        counts.forEach((kind, count) ->
                text.add(count + " " + kind.name().toLowerCase(Locale.ROOT).replace('_', ' ')));
        return text.toString();
    }
}
