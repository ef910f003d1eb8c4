package org.globalfs.jepsen.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What a report needs of a history: how long operations took and what went wrong meanwhile, not
 * what was read.
 *
 * @param partitions what its operations need
 * @param endNs when the last entry was made, from the history's beginning on
 */
record RecordedHistory(
        List<String> partitions, List<Operation> operations, List<Broken> faults, long endNs) {

    private static final Pattern ENTRY =
            Pattern.compile(
                    "\\{:index \\d+, :time (\\d+), :type :(\\w+), :process (:?\\w+), :f :(\\S+), (.*)}");
    private static final Pattern NODE = Pattern.compile(", :node \"([^\"]*)\"$");
    private static final Pattern VALUE = Pattern.compile("^:value \"([^\"]*)\"");
    private static final Pattern SPARES = Pattern.compile(":spares \\[([^\\]]*)]$");
    private static final Pattern PARTITIONS = Pattern.compile(":partitions \\[([^\\]]*)]$");
    private static final Set<String> NO_UPDATES =
            Set.of("read", "settled", "exists", "stat", "readdir");

    /**
     * One operation of a client.
     *
     * @param node the region of its mount
     * @param outcome {@code ok}, {@code fail} or {@code info}
     * @param endNs of one that was never completed: {@link Long#MAX_VALUE}
     */
    record Operation(String f, String node, String outcome, long beginNs, long endNs) {
        boolean isUpdate() {
            return !NO_UPDATES.contains(f);
        }

        boolean isAnswered() {
            return !outcome.equals("info");
        }
    }

    /**
     * One fault.
     *
     * @param already it began before this history
     * @param spares {@code CLIENTS>PARTITION} that have all they need meanwhile
     */
    record Broken(
            String kind,
            String target,
            boolean already,
            Set<String> spares,
            long beginNs,
            long endNs) {
        Broken until(long timeNs) {
            return new Broken(kind, target, already, spares, beginNs, timeNs);
        }

        boolean overlaps(Operation operation) {
            return operation.beginNs <= endNs && operation.endNs >= beginNs;
        }
    }

    static RecordedHistory read(Path file) throws IOException {
        Reader reader = new Reader();
        try (Stream<String> lines = Files.lines(file)) {
            lines.forEach(reader::take);
        }
        return reader.history();
    }

    /** Puts entries together. */
    private static final class Reader {
        private final List<Operation> operations = new ArrayList<>();
        private final List<Broken> faults = new ArrayList<>();
        private final Map<String, Operation> open = new HashMap<>();
        private List<String> partitions = List.of();
        private @Nullable Broken broken;
        private long timeNs;

        void take(String line) {
            Matcher entry = ENTRY.matcher(line);
            if (!entry.matches()) {
                return;
            }
            timeNs = Long.parseLong(entry.group(1));
            String process = entry.group(3);
            if (process.startsWith(":")) {
                nemesis(entry.group(4), entry.group(5));
                return;
            }
            if (entry.group(2).equals("invoke")) {
                String node = first(NODE, entry.group(5));
                open.put(
                        process,
                        new Operation(entry.group(4), node, "info", timeNs, Long.MAX_VALUE));
                return;
            }
            Operation invoked = open.remove(process);
            if (invoked != null) {
                operations.add(
                        new Operation(
                                invoked.f, invoked.node, entry.group(2), invoked.beginNs, timeNs));
            }
        }

        private void nemesis(String f, String rest) {
            switch (f) {
                case "begun" -> partitions = texts(first(PARTITIONS, rest));
                case "healed" -> end();
                default ->
                        broken =
                                new Broken(
                                        f,
                                        first(VALUE, rest),
                                        rest.contains(":already true"),
                                        Set.copyOf(texts(first(SPARES, rest))),
                                        timeNs,
                                        Long.MAX_VALUE);
            }
        }

        private void end() {
            if (broken != null) {
                faults.add(broken.until(timeNs));
                broken = null;
            }
        }

        RecordedHistory history() {
            end();
            operations.addAll(open.values());
            return new RecordedHistory(partitions, operations, faults, timeNs);
        }

        private static String first(Pattern pattern, String text) {
            Matcher found = pattern.matcher(text);
            return found.find() ? found.group(1) : "";
        }

        private static List<String> texts(String items) {
            return Stream.of(items.replace("\"", "").split(" ", -1))
                    .filter(item -> !item.isEmpty())
                    .toList();
        }
    }
}
