package org.globalfs.bench.datastore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.globalfs.bench.BenchFailure;
import org.globalfs.bench.lab.Figure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The benchmark works; its figures mean nothing here. */
@Timeout(300)
class DatastoreBenchTest {
    @TempDir Path folder;

    private String table(String... arguments) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            CommandLine line = new CommandLine(new DatastoreBench());
            line.setExecutionExceptionHandler((failure, command, parsed) -> {
                throw failure;
            });
            assertThat(line.execute(arguments)).isZero();
        } finally {
            System.setOut(before);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    @Test
    void measuresRealProcessesAndLeavesNothingBehind() throws IOException {
        String table = table("--quick", "--folder=" + folder);
        assertThat(table).contains("fdatasync");
        for (String coder : List.of("lookup", "vector", "table")) {
            for (String code : List.of("4,2", "6,3", "9,3")) {
                assertThat(table)
                        .containsPattern(
                                "\\| encode RS\\(%s\\), 1 MiB, hot, %s coder \\| [0-9.]+ GB/s"
                                        .formatted(code, coder))
                        .containsPattern(
                                "\\| encode RS\\(%s\\), 4 MiB, cold, %s coder \\| [0-9.]+ GB/s"
                                        .formatted(code, coder));
            }
        }
        for (String clients : List.of("1 client", "4 clients")) {
            assertThat(table)
                    .containsPattern(
                            "\\| put, %s \\| [0-9.,]+ MB/s \\| [0-9.,]+ MB/s \\(raw\\) \\| [0-9.]+ \\|"
                                    .formatted(clients))
                    .containsPattern("\\| get, from disk, %s \\| [1-9]".formatted(clients))
                    .containsPattern("\\| get, cached, %s \\| [1-9]".formatted(clients));
        }
        assertThat(table)
                .containsPattern("\\| get of 64 KiB, p99 \\| [0-9.]+ ms \\| [0-9.]+ ms")
                .containsPattern("\\| rebuild of a dead node of six, 64 MiB of content \\| [1-9]");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void namesWhatCanBeMeasured() {
        DatastoreBench bench = new DatastoreBench();
        new CommandLine(bench).parseArgs("--only=decoder");
        assertThatThrownBy(bench::call)
                .isInstanceOf(BenchFailure.class)
                .hasMessageContaining("no measurement decoder")
                .hasMessageContaining("rebuild");
    }

    @Test
    void targetsAreOfFiguresOrOfRatios() {
        Figure two = new Figure(" GB/s", List.of(2.0));
        Figure four = new Figure(" GB/s", List.of(4.0));
        assertThat(new Line("a", two, four, Line.Goal.ratio(0.5, "half")).markdown())
                .isEqualTo("| a | 2.00 GB/s | 4.00 GB/s | 0.50 | half | yes |");
        assertThat(new Line("a", two, four, Line.Goal.ratio(0.6, "more")).markdown())
                .endsWith("| **no** |");
        assertThat(new Line("a", two, four, Line.Goal.figure(2, "two")).isMet()).isTrue();
        assertThat(new Line("a", two, null, Line.Goal.ratio(0.5, "half")).markdown())
                .isEqualTo("| a | 2.00 GB/s | – | – | half | – |");
    }
}
