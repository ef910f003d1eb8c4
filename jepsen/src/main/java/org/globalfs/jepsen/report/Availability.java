package org.globalfs.jepsen.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.globalfs.jepsen.report.RecordedHistory.Broken;
import org.globalfs.jepsen.report.RecordedHistory.Operation;

/**
 * How updates went on during faults, by kind of fault. Counted are updates of clients that had all
 * they needed meanwhile: a mount that ran, and a majority of each partition in reach.
 */
final class Availability {
    private final Map<String, During> kinds = new TreeMap<>();

    /** Of one kind of fault. */
    static final class During {
        private int times;
        private long brokenNs;
        private long stallNs;
        private final List<Long> latenciesNs = new ArrayList<>();

        int times() {
            return times;
        }

        double seconds() {
            return brokenNs / 1e9;
        }

        /** How many updates were answered. */
        int updates() {
            return latenciesNs.size();
        }

        /**
         * The longest time in which a region's clients waited for updates and none was answered.
         */
        double stallSeconds() {
            return stallNs / 1e9;
        }

        double p99Ms() {
            return percentile(latenciesNs, 99) / 1e6;
        }
    }

    /** Smallest value that so many of a hundred do not exceed; 0 of none. */
    static long percentile(List<Long> values, int percent) {
        if (values.isEmpty()) {
            return 0;
        }
        List<Long> sorted = new ArrayList<>(values);
        Collections.sort(sorted);
        return sorted.get((sorted.size() * percent + 99) / 100 - 1);
    }

    Map<String, During> kinds() {
        return kinds;
    }

    void add(RecordedHistory history) {
        for (Broken fault : history.faults()) {
            During during = kinds.computeIfAbsent(fault.kind(), kind -> new During());
            during.times += fault.already() ? 0 : 1;
            during.brokenNs += fault.endNs() - fault.beginNs();
            spared(history, fault)
                    .distinct()
                    .forEach(client -> {
                        List<Operation> updates =
                                history.operations().stream()
                                        .filter(o -> o.isUpdate() && o.node().equals(client))
                                        .filter(fault::overlaps)
                                        .toList();
                        updates.stream()
                                .filter(Operation::isAnswered)
                                .forEach(o -> during.latenciesNs.add(o.endNs() - o.beginNs()));
                        during.stallNs =
                                Math.max(
                                        during.stallNs,
                                        stallNs(updates, fault.beginNs(), history.endNs()));
                    });
        }
    }

    /** The regions whose clients reach all that the history's operations need. */
    private static Stream<String> spared(RecordedHistory history, Broken fault) {
        return history.operations().stream()
                .map(Operation::node)
                .distinct()
                .filter(client ->
                        history.partitions().stream()
                                .allMatch(p -> fault.spares().contains(client + ">" + p)));
    }

    private record Event(long timeNs, boolean begins, boolean answers) {}

    /** The longest time from then on with updates under way of which none was answered. */
    private static long stallNs(List<Operation> updates, long fromNs, long lastNs) {
        List<Event> events = new ArrayList<>();
        for (Operation update : updates) {
            events.add(new Event(Math.max(update.beginNs(), fromNs), true, false));
            events.add(new Event(Math.min(update.endNs(), lastNs), false, update.isAnswered()));
        }
        // of the same moment, what begins is first: a wait of no length does no harm
        events.sort((a, b) ->
                a.timeNs != b.timeNs
                        ? Long.compare(a.timeNs, b.timeNs)
                        : Boolean.compare(b.begins, a.begins));
        long longest = 0;
        long sinceNs = 0;
        int underWay = 0;
        for (Event event : events) {
            if (event.begins) {
                sinceNs = underWay++ == 0 ? event.timeNs : sinceNs;
                continue;
            }
            underWay--;
            if (event.answers || underWay == 0) {
                longest = Math.max(longest, event.timeNs - sinceNs);
                sinceNs = event.timeNs;
            }
        }
        return longest;
    }
}
