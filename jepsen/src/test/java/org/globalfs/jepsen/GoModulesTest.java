package org.globalfs.jepsen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is written in Go: the checker, whose golden histories get the verdicts in their names, and
 * the agent.
 */
@Timeout(300)
class GoModulesTest {
    private record Outcome(int exitCode, String output) {}

    private static Outcome go(String module, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new java.util.ArrayList<>(List.of("go"));
        command.addAll(List.of(arguments));
        Process process;
        try {
            process =
                    new ProcessBuilder(command)
                            .directory(Path.of(module).toFile())
                            .redirectErrorStream(true)
                            .start();
        } catch (IOException e) {
            return new Outcome(127, String.valueOf(e.getMessage()));
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
        return new Outcome(process.exitValue(), output);
    }

    @ParameterizedTest
    @ValueSource(strings = {"check", "agent"})
    void passesItsOwnTests(String module) throws Exception {
        Outcome modules = go(module, "mod", "download");
        assumeTrue(
                modules.exitCode == 0,
                "SKIPPED: needs Go 1.19 and its module proxy: " + modules.output);
        Outcome vetted = go(module, "vet", "./...");
        assertThat(vetted.exitCode).as(vetted.output).isZero();
        Outcome tested = go(module, "test", "-count=1", "./...");
        System.out.print(tested.output);
        assertThat(tested.exitCode).as(tested.output).isZero();
    }
}
