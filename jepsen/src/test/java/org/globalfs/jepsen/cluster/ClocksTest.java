package org.globalfs.jepsen.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What processes take the time for when their clocks are wrong. */
@Timeout(60)
class ClocksTest {
    private static final Duration DAY = Duration.ofDays(1);

    @TempDir private Path folder;

    /** In a process of its own: for each line that it reads, what time it is by both clocks. */
    static final class Asked {
        private Asked() {}

        public static void main(String[] args) throws IOException {
            BufferedReader in = new BufferedReader(new java.io.InputStreamReader(System.in, UTF_8));
            while (in.readLine() != null) {
                System.out.println(
                        System.nanoTime() + " " + System.currentTimeMillis() + " " + Instant.now());
            }
        }
    }

    /** Such a process. */
    private record Child(Process process, BufferedReader answers) implements AutoCloseable {
        static Child start(Clocks clocks, String name) throws IOException {
            ProcessBuilder builder =
                    new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Asked.class.getName(),
                            "--config",
                            "somewhere/" + name + ".yaml");
            builder.redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().putAll(clocks.environment());
            Process process = builder.start();
            return new Child(process, process.inputReader(UTF_8));
        }

        /** How far its wall clock is ahead; its other clock has to be right. */
        Duration ahead() throws IOException {
            long beforeNs = System.nanoTime();
            long beforeMs = System.currentTimeMillis();
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
            String[] answer = answers.readLine().split(" ", -1);
            assertThat(Long.parseLong(answer[0])).isBetween(beforeNs, System.nanoTime());
            long wallMs = Long.parseLong(answer[1]);
            assertThat(Duration.between(Instant.ofEpochMilli(wallMs), Instant.parse(answer[2])))
                    .isLessThan(Duration.ofMinutes(1));
            return Duration.ofMillis(wallMs - beforeMs);
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    private static void assertAhead(Child child, Duration ahead) throws IOException {
        assertThat(child.ahead()).isBetween(ahead, ahead.plus(Duration.ofMinutes(1)));
    }

    @Test
    void onlyTheWallClockOfThatServerIsWrong() throws Exception {
        Optional<String> missing = Clocks.missing();
        assumeTrue(missing.isEmpty(), () -> "SKIPPED: " + missing.orElseThrow());
        Path source = Path.of("clock", "clock.c").toAbsolutePath();
        try (Clocks clocks = new Clocks(source, folder.resolve("clocks"), List.of("one", "two"))) {
            clocks.make();
            clocks.set("one", DAY);
            try (Child one = Child.start(clocks, "one");
                    Child two = Child.start(clocks, "two");
                    Child none = Child.start(clocks, "none")) {
                assertAhead(one, DAY);
                assertAhead(two, Duration.ZERO);
                clocks.set("one", DAY.negated());
                clocks.set("two", Duration.ofSeconds(-3_000));
                assertAhead(one, DAY.negated());
                assertAhead(two, Duration.ofSeconds(-3_000));
                clocks.set("one", Duration.ZERO);
                assertAhead(one, Duration.ZERO);
                assertAhead(none, Duration.ZERO);
            }
        }
    }
}
