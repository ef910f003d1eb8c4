package org.globalfs.jepsen;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is written in Go: the checker, whose golden histories get the verdicts in their names, and
 * the agent.
 */
@Timeout(900)
class GoModulesTest {
    private static GoProgram.Result go(String module, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("go"));
        command.addAll(List.of(arguments));
        return GoProgram.run(Path.of(module), command);
    }

    @ParameterizedTest
    @ValueSource(strings = {"check", "agent", "poweroff"})
    void passesItsOwnTests(String module) throws Exception {
        GoProgram.Result modules = go(module, "mod", "download");
        assumeTrue(
                modules.exitCode() == 0,
                "SKIPPED: needs Go 1.19 and its module proxy: " + modules.output());
        GoProgram.Result vetted = go(module, "vet", "./...");
        assertThat(vetted.exitCode()).as(vetted.output()).isZero();
        GoProgram.Result tested = go(module, "test", "-count=1", "./...");
        System.out.print(tested.output());
        assertThat(tested.exitCode()).as(tested.output()).isZero();
    }
}
