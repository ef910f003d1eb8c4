package org.globalfs.jepsen;

import static org.assertj.core.api.Assertions.assertThat;

import clojure.lang.IFn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The suite for Jepsen and the harness do the same: names of workloads, operations, shapes of their
 * values, and what the agent is asked. {@code suite/resources/workloads.edn}, from which the suite
 * works, is compared with what the harness does, with the checker's golden histories, and with the
 * agent's operations.
 */
class SuiteAgreesTest {
    private static final Path GOLDEN = Path.of("check", "golden");
    private static final IFn SHAPED = Clojures.function("globalfs.suite.operations", "shaped?");

    /** What the agent answers, as far as the harness passes it on. */
    private static final Map<String, Object> ANSWERS =
            Map.ofEntries(
                    Map.entry("reg.read", 1L),
                    Map.entry("ver.read", 1L),
                    Map.entry("log.read", List.of(1L)),
                    Map.entry("ns.stat", Map.of("nlink", 1L)),
                    Map.entry("ns.readdir", Map.of("entries", List.of("1.1"))),
                    Map.entry("mark.read", Map.of("mark", 1L)),
                    Map.entry("lock.acquire", Map.of("token", 1L)),
                    Map.entry("set.read", List.of(1L)),
                    Map.entry("counter.read", 1L),
                    Map.entry("content.read", "a sum"),
                    Map.entry("whole.settled", "a sum"));

    private static Map<String, Map<?, ?>> workloads() {
        Object var = Clojures.function("globalfs.suite.operations", "workloads");
        Map<String, Map<?, ?>> all = new LinkedHashMap<>();
        ((Map<?, ?>) ((clojure.lang.Var) var).deref())
                .forEach((name, workload) -> all.put((String) name, (Map<?, ?>) workload));
        return all;
    }

    private static @Nullable Object get(Map<?, ?> map, String keyword) {
        return map.get(Clojures.keyword(keyword));
    }

    private static Map<?, ?> map(Map<?, ?> map, String keyword) {
        return (Map<?, ?>) Objects.requireNonNull(get(map, keyword), keyword);
    }

    @Test
    void theHarnessHasTheSameWorkloads() {
        Map<String, Campaign.Plan> plans = Campaign.plans(List.of("west", "east"), "global", 1);
        Map<String, Map<?, ?>> workloads = workloads();
        assertThat(plans.keySet()).isEqualTo(workloads.keySet());
        plans.forEach((name, plan) -> {
            Map<?, ?> expected = workloads.get(name);
            assertThat(get(expected, "checker")).isEqualTo(plan.workload().checker());
            assertThat(Boolean.TRUE.equals(get(expected, "updates-only")))
                    .as(name)
                    .isEqualTo(plan.updatesOnly());
            compare(name, map(expected, "ops"), plan.workload());
        });
    }

    private static void compare(String name, Map<?, ?> operations, Workload workload) {
        Set<Object> done = new HashSet<>();
        for (Step step : steps(workload)) {
            Object f = Clojures.keyword(step.f());
            done.add(f);
            String what = name + " " + step;
            assertThat(operations.containsKey(f)).as(what).isTrue();
            Map<?, ?> expected = (Map<?, ?>) operations.get(f);
            assertThat(shaped(get(expected, "value"), step.value())).as(what).isTrue();
            Map<?, ?> asks = map(expected, "asks");
            assertThat(get(asks, "f")).as(what).isEqualTo(step.request().get("f"));
            assertThat(
                            asks.keySet().stream()
                                    .map(key -> ((clojure.lang.Keyword) key).getName())
                                    .collect(Collectors.toSet()))
                    .as(what)
                    .isEqualTo(step.request().keySet());
            Object completion = step.seen().apply(answer(step));
            Object returns =
                    expected.containsKey(Clojures.keyword("returns"))
                            ? get(expected, "returns")
                            : get(expected, "value");
            assertThat(shaped(returns, completion)).as(what + " → " + completion).isTrue();
        }
        assertThat(done).as(name).isEqualTo(operations.keySet());
    }

    private static @Nullable Object answer(Step step) {
        return ANSWERS.get(String.valueOf(step.request().get("f")));
    }

    /** What a few clients are given to do, while all succeeds, and what is done at the end. */
    private static List<Step> steps(Workload workload) {
        List<Step> steps = new ArrayList<>(workload.first());
        Random random = new Random(7);
        for (int i = 0; i < 400; i++) {
            long process = random.nextInt(3);
            Step step = workload.next(process, random);
            steps.add(step);
            workload.done(process, step, new Outcome("ok", answer(step), null));
        }
        steps.addAll(workload.last());
        return steps;
    }

    private static boolean shaped(@Nullable Object shape, @Nullable Object value) {
        return (Boolean) SHAPED.invoke(shape, clojure(value));
    }

    /** With keywords for a map's keys. */
    private static @Nullable Object clojure(@Nullable Object value) {
        if (!(value instanceof Map<?, ?> fields)) {
            return value instanceof List<?> items
                    ? clojure.lang.PersistentVector.create(items)
                    : value;
        }
        Map<Object, @Nullable Object> keyed = new HashMap<>();
        fields.forEach((key, each) -> keyed.put(Clojures.keyword((String) key), clojure(each)));
        return clojure.lang.PersistentHashMap.create(keyed);
    }

    /** What the checker takes for right is what workloads.edn says. */
    @Test
    void goldenHistoriesHaveTheSameShapes() throws Exception {
        Map<String, Map<?, ?>> byChecker = new HashMap<>();
        for (Map<?, ?> workload : workloads().values()) {
            Map<Object, Object> operations = new HashMap<>();
            String checker = String.valueOf(get(workload, "checker"));
            operations.putAll(byChecker.getOrDefault(checker, Map.of()));
            operations.putAll(map(workload, "ops"));
            byChecker.put(checker, operations);
        }
        Set<String> judged = new HashSet<>();
        for (Path file : golden()) {
            String checker = file.getName(GOLDEN.getNameCount()).toString();
            judged.add(checker);
            Map<?, ?> operations = Objects.requireNonNull(byChecker.get(checker), checker);
            for (Object entry : Clojures.forms(file)) {
                compare(file, (Map<?, ?>) entry, operations);
            }
        }
        assertThat(judged).isEqualTo(byChecker.keySet());
    }

    private static List<Path> golden() throws IOException {
        try (Stream<Path> files = Files.walk(GOLDEN)) {
            return files.filter(file -> file.toString().matches(".*\\.(in)?valid\\.edn")).toList();
        }
    }

    private static void compare(Path file, Map<?, ?> entry, Map<?, ?> operations) {
        if (!(get(entry, "process") instanceof Long)) {
            return;
        }
        String what = file + " " + entry;
        assertThat(operations.containsKey(get(entry, "f"))).as(what).isTrue();
        Map<?, ?> expected = (Map<?, ?>) operations.get(get(entry, "f"));
        String type = ((clojure.lang.Keyword) get(entry, "type")).getName();
        boolean returns = type.equals("ok") && expected.containsKey(Clojures.keyword("returns"));
        Object shape = get(expected, returns ? "returns" : "value");
        assertThat((Boolean) SHAPED.invoke(shape, get(entry, "value"))).as(what).isTrue();
        if (type.equals("fail") && get(expected, "sees") instanceof Set<?> sees) {
            String error = ((clojure.lang.Keyword) get(entry, "error")).getName();
            boolean refused =
                    get(expected, "refused") instanceof Set<?> some && some.contains(error);
            assertThat(sees.contains(error) || refused || error.equals("ENOSPC")).as(what).isTrue();
        }
    }

    @Test
    void theAgentDoesWhatIsAsked() throws Exception {
        Set<Object> asked = new HashSet<>(Set.of("mkdir"));
        for (Map<?, ?> workload : workloads().values()) {
            map(workload, "ops")
                    .values()
                    .forEach(operation -> asked.add(get(map((Map<?, ?>) operation, "asks"), "f")));
        }
        Set<Object> done = new HashSet<>();
        String serve = Files.readString(Path.of("agent", "serve.go"));
        int table = serve.indexOf("var operations");
        Matcher matcher =
                Pattern.compile("\"([a-z.]+)\":")
                        .matcher(serve.substring(table, serve.indexOf("\n}", table)));
        while (matcher.find()) {
            done.add(matcher.group(1));
        }
        assertThat(asked).isEqualTo(done);
    }

    @Test
    void bytesMadeFromANumberAreTheSame() {
        IFn sum = Clojures.function("globalfs.suite.content", "sum");
        for (long file : List.of(1L, 77L, 123_456_789L)) {
            assertThat(sum.invoke(file, 10_003L)).isEqualTo(Content.sum(file, 10_003));
        }
    }
}
