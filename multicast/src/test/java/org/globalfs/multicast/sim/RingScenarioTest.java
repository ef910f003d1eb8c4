package org.globalfs.multicast.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Text scenarios: commands, {@code ----}, what happens, an empty line. To write down what happens
 * now: {@code -Dglobalfs.scenarios.write=true}, then read the difference.
 */
class RingScenarioTest {
    private static final Path FOLDER = Path.of("src/test/resources/scenarios/ring");

    @TestFactory
    Stream<DynamicTest> scenarios() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            List<Path> sorted = files.sorted().toList();
            assertThat(sorted).isNotEmpty();
            return sorted.stream()
                    .map(file ->
                            DynamicTest.dynamicTest(
                                    file.getFileName().toString(), () -> play(file)));
        }
    }

    private static void play(Path file) throws IOException {
        List<String> written = Files.readAllLines(file);
        List<String> played = new ArrayList<>();
        RingScenario scenario = new RingScenario();
        List<String> happened = new ArrayList<>();
        boolean expecting = false;
        for (String line : written) {
            if (line.equals("----")) {
                expecting = true;
                played.add(line);
                played.addAll(happened);
                happened.clear();
            } else if (line.isBlank()) {
                expecting = false;
                played.add(line);
            } else if (!expecting) {
                played.add(line);
                if (!line.startsWith("#")) {
                    happened.addAll(scenario.execute(line));
                }
            }
        }
        if (Boolean.getBoolean("globalfs.scenarios.write")) {
            Files.write(file, played);
        }
        assertThat(played).isEqualTo(written);
    }
}
