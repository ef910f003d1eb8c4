package org.globalfs.multicast.merge;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.MergePosition;
import org.globalfs.multicast.RingPosition;
import org.globalfs.multicast.Scenarios;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Text scenarios of the round-robin merge, see {@link Scenarios}.
 *
 * <ul>
 *   <li>{@code learner A group 1 turn 2 rings 0 1}: a learner begins. {@code room 3}: how many
 *       instances of a ring it buffers, from the next start on.
 *   <li>{@code decide 1 a b skip=10}: ring 1 decides an instance. {@code follow=1:2:0:0}: group 1
 *       follows ring 2 from behind instance 0 at position 0; {@code leave=1:2}; {@code nothing}.
 *   <li>{@code resume A}: a new machine at the position of the old. {@code state}: where learners
 *       are.
 * </ul>
 */
class MergeScenarioTest {
    private final Merged.Logs logs = new Merged.Logs();
    private final Map<String, Merged> learners = new TreeMap<>();
    private final Map<String, Integer> groups = new TreeMap<>();
    private final List<String> told = new ArrayList<>();
    private int room = 1000;

    @TestFactory
    Stream<DynamicTest> scenarios() throws IOException {
        return Scenarios.in("merge", () -> new MergeScenarioTest()::execute);
    }

    private List<String> execute(String line) {
        told.clear();
        execute(line.split("\\s+"));
        return List.copyOf(told);
    }

    private void execute(String[] words) {
        switch (words[0]) {
            case "room" -> room = Integer.parseInt(words[1]);
            case "learner" -> {
                int group = Integer.parseInt(words[3]);
                int turn = Integer.parseInt(words[5]);
                List<Integer> rings = Arrays.stream(words).skip(7).map(Integer::parseInt).toList();
                groups.put(words[1], group);
                learners.put(
                        words[1], new Merged(group, MergePosition.start(turn, rings), room, logs));
            }
            case "decide" ->
                    logs.decide(
                            Integer.parseInt(words[1]),
                            Arrays.stream(words)
                                    .skip(2)
                                    .filter(word -> !word.equals("nothing"))
                                    .map(MergeScenarioTest::entry)
                                    .toArray(Entry[]::new));
            case "resume" ->
                    learners.computeIfPresent(
                            words[1],
                            (name, old) ->
                                    new Merged(groups.get(name), old.position(), room, logs));
            case "state" -> learners.forEach((name, merged) -> told.add(state(name, merged)));
            default -> throw new IllegalArgumentException("no such command: " + words[0]);
        }
        learners.forEach(this::deliver);
    }

    private static Entry entry(String word) {
        int equals = word.indexOf('=');
        if (equals < 0) {
            return new Entry.Command(0, word.getBytes(StandardCharsets.UTF_8), new int[0]);
        }
        long[] numbers =
                Arrays.stream(word.substring(equals + 1).split(":"))
                        .mapToLong(Long::parseLong)
                        .toArray();
        return switch (word.substring(0, equals)) {
            case "skip" -> new Entry.Skip(numbers[0]);
            case "follow" ->
                    new Entry.Subscription(
                            (int) numbers[0], (int) numbers[1], true, numbers[2], numbers[3]);
            case "leave" -> new Entry.Subscription((int) numbers[0], (int) numbers[1], false, 0, 0);
            default -> throw new IllegalArgumentException("no such entry: " + word);
        };
    }

    private void deliver(String name, Merged merged) {
        int before = merged.steps.size();
        merged.finish();
        for (Merged.Step step : merged.steps.subList(before, merged.steps.size())) {
            told.add(
                    "%s delivers %d.%d%s"
                            .formatted(
                                    name,
                                    step.ring(),
                                    step.instance(),
                                    text(logs.of(step.ring()).get((int) step.instance() - 1))));
        }
    }

    private static String text(List<Entry> entries) {
        StringBuilder text = new StringBuilder();
        for (Entry entry : entries) {
            switch (entry) {
                case Entry.Command command ->
                        text.append(' ')
                                .append(new String(command.value(), StandardCharsets.UTF_8));
                case Entry.Skip skip -> text.append(" skip=").append(skip.position());
                default -> text.append(' ').append(entry.getClass().getSimpleName());
            }
        }
        return text.toString();
    }

    private static String state(String name, Merged merged) {
        StringBuilder text =
                new StringBuilder(name + " waits for ring " + merged.machine.waitingFor());
        if (merged.machine.wanted() > 0) {
            text.append(" to reach ").append(merged.machine.wanted());
        }
        for (RingPosition ring : merged.machine.position().rings()) {
            text.append("; %d.%d at %d".formatted(ring.ring(), ring.instance(), ring.position()));
            if (ring.from() > 0) {
                text.append(" from ").append(ring.from());
            }
        }
        return text.toString();
    }
}
