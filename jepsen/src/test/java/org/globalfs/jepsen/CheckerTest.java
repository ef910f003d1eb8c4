package org.globalfs.jepsen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The checker of histories, a Go module: its golden histories get the verdicts in their names. */
@Timeout(300)
class CheckerTest {
    private static final Path MODULE = Path.of("check").toAbsolutePath();

    private record Outcome(int exitCode, String output) {}

    private static Outcome go(String... arguments) throws IOException, InterruptedException {
        List<String> command = new java.util.ArrayList<>(List.of("go"));
        command.addAll(List.of(arguments));
        Process process;
        try {
            process =
                    new ProcessBuilder(command)
                            .directory(MODULE.toFile())
                            .redirectErrorStream(true)
                            .start();
        } catch (IOException e) {
            return new Outcome(127, String.valueOf(e.getMessage()));
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return new Outcome(process.exitValue(), output);
    }

    @Test
    void goldenHistoriesGetTheirVerdicts() throws Exception {
        Outcome modules = go("mod", "download");
        assumeTrue(
                modules.exitCode == 0,
                "SKIPPED: needs Go 1.19 and its module proxy: " + modules.output);
        Outcome vetted = go("vet", "./...");
        assertThat(vetted.exitCode).as(vetted.output).isZero();
        Outcome tested = go("test", "-count=1", "./...");
        System.out.print(tested.output);
        assertThat(tested.exitCode).as(tested.output).isZero();
    }
}
