package org.globalfs.bench.multicast;

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
@Timeout(180)
class MulticastBenchTest {
    @TempDir Path folder;

    private String table(String... arguments) {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream before = System.out;
        System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            CommandLine line = new CommandLine(new MulticastBench());
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
        String table =
                table("--quick", "--only=durable-64,fail-over,dissemination", "--folder=" + folder);
        assertThat(table)
                .contains("fdatasync")
                .containsPattern("\\| durable, 64 outstanding × 200 B \\| [1-9][0-9,.]*/s \\|")
                .contains("0 lost, 0 delivered twice, one order")
                .contains("| measurement | star | ring |")
                .containsPattern(
                        "\\| memory, 64 outstanding × 32 KiB \\| [1-9][0-9,.]*/s \\| [1-9]");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void measuresBothMerges() throws IOException {
        assertThat(table("--quick", "--only=merge", "--turns=2,5000,10", "--folder=" + folder))
                .containsPattern("without ring global \\| [0-9.]+ ms \\| [0-9.]+ ms \\| –")
                .containsPattern("merged by home ring \\| [0-9,.]+ ms .* × \\|")
                .containsPattern("\\(M = 2, lambda = 5,000/s, delta = 10 ms\\) \\| [0-9,.]+ ms")
                .containsPattern("ring global meanwhile \\| [1-9][0-9,.]*/s");
        try (Stream<Path> left = Files.list(folder)) {
            assertThat(left).isEmpty();
        }
    }

    @Test
    void namesWhatCanBeMeasured() {
        MulticastBench bench = new MulticastBench();
        new CommandLine(bench).parseArgs("--only=durable-65");
        assertThatThrownBy(bench::call)
                .isInstanceOf(BenchFailure.class)
                .hasMessageContaining("no measurement durable-65")
                .hasMessageContaining("durable-64");
    }

    @Test
    void figureIsAMedianWithItsSpread() {
        assertThat(new Figure(" ms", List.of(3.0, 1.0, 2.0)).toString())
                .isEqualTo("2.00 ms (1.00–3.00)");
        assertThat(new Figure("/s", List.of(1500.0)).toString()).isEqualTo("1,500/s");
        assertThat(new Figure("", List.of(1.0, 2.0)).median()).isEqualTo(1.5);
    }

    @Test
    void betterIsMoreOfARateAndLessOfALatency() {
        Figure two = new Figure("", List.of(2.0));
        Figure one = new Figure("", List.of(1.0));
        assertThat(Row.higher("rate", two, one).markdown())
                .isEqualTo("| rate | 2.00 | 1.00 | 2.0 × |");
        assertThat(Row.lower("latency", two, one).markdown()).endsWith("| 0.5 × |");
        assertThat(Row.lower("latency", two, null).markdown())
                .isEqualTo("| latency | 2.00 | – | – |");
    }
}
