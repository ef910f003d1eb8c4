package org.globalfs.replica.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the fixtures in {@code src/test/resources/state}: blocks of commands, {@code ----}, the
 * expected output, an empty line. With REWRITE_FIXTURES in the environment the expectations are
 * written anew instead, to be read before they are committed.
 */
final class ScenarioTest {

    private static final Path FIXTURES = Path.of("src/test/resources/state");

    @TempDir Path folder;

    @TestFactory
    Stream<DynamicTest> fixtures() throws IOException {
        List<Path> files;
        try (Stream<Path> listed = Files.list(FIXTURES)) {
            files =
                    listed.filter(f -> f.toString().endsWith(".txt"))
                            .sorted(Comparator.naturalOrder())
                            .toList();
        }
        return files.stream()
                .map(file ->
                        DynamicTest.dynamicTest(file.getFileName().toString(), () -> run(file)));
    }

    private void run(Path file) throws IOException {
        String expected = Files.readString(file);
        StringBuilder actual = new StringBuilder();
        try (Rings rings = new Rings(folder.resolve(file.getFileName()), 2)) {
            Scenario scenario = new Scenario(rings);
            for (List<String> block : blocks(expected)) {
                execute(scenario, block, actual);
            }
        }
        if (System.getenv("REWRITE_FIXTURES") != null) {
            Files.writeString(file, actual.toString());
        } else {
            assertThat(actual.toString()).isEqualTo(expected);
        }
    }

    private static void execute(Scenario scenario, List<String> block, StringBuilder out) {
        List<String> outputs = new ArrayList<>();
        for (String line : block) {
            out.append(line).append('\n');
            if (!line.startsWith("#")) {
                String output = scenario.run(line);
                if (!output.isEmpty()) {
                    outputs.add(line + (output.contains("\n") ? ":\n" : ": ") + output);
                }
            }
        }
        if (!block.stream().allMatch(line -> line.startsWith("#"))) {
            out.append("----\n");
            outputs.forEach(output -> out.append(output).append('\n'));
        }
        out.append('\n');
    }

    /** The command lines of each block. */
    private static List<List<String>> blocks(String text) {
        List<List<String>> blocks = new ArrayList<>();
        for (String block : text.split("\n\n")) {
            List<String> commands = new ArrayList<>();
            for (String line : block.split("\n")) {
                if (line.equals("----")) {
                    break;
                }
                if (!line.isEmpty()) {
                    commands.add(line);
                }
            }
            if (!commands.isEmpty()) {
                blocks.add(commands);
            }
        }
        return blocks;
    }
}
