package org.globalfs.multicast;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/**
 * Text scenarios: commands, {@code ----}, what happens, an empty line; a line with {@code #} says
 * why. To write down what happens now: {@code -Dglobalfs.scenarios.write=true}, then read the
 * difference.
 */
public final class Scenarios {
    private static final Path FOLDER = Path.of("src/test/resources/scenarios");

    private Scenarios() {}

    /**
     * A test for each file of the folder.
     *
     * @param start begins a scenario: what it returns executes a command, and says what happened
     */
    public static Stream<DynamicTest> in(
            String folder, Supplier<Function<String, List<String>>> start) throws IOException {
        try (Stream<Path> files = Files.list(FOLDER.resolve(folder))) {
            List<Path> sorted = files.sorted().toList();
            assertThat(sorted).isNotEmpty();
            return sorted.stream()
                    .map(file ->
                            DynamicTest.dynamicTest(
                                    file.getFileName().toString(), () -> play(file, start.get())));
        }
    }

    private static void play(Path file, Function<String, List<String>> scenario)
            throws IOException {
        List<String> written = Files.readAllLines(file);
        List<String> played = new ArrayList<>();
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
                    happened.addAll(scenario.apply(line));
                }
            }
        }
        if (Boolean.getBoolean("globalfs.scenarios.write")) {
            Files.write(file, played);
        }
        assertThat(played).isEqualTo(written);
    }
}
