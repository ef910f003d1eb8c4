package org.globalfs.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** A call reads no more commands than it names. */
final class GlobalFsCommandTest {
    static String[] names() {
        return GlobalFsCommand.COMMANDS.stream()
                .map(command -> command.getAnnotation(Command.class).name())
                .toArray(String[]::new);
    }

    @ParameterizedTest
    @MethodSource("names")
    void aCallThatNamesACommandKnowsOnlyThat(String name) {
        CommandLine line = GlobalFsCommand.commandLine(name, "--help");
        assertThat(line.getSubcommands()).containsOnlyKeys(name);
    }

    @ParameterizedTest
    @MethodSource("names")
    void everyCommandTellsItsVersion(String name) {
        StringWriter told = new StringWriter();
        CommandLine line = GlobalFsCommand.commandLine(name, "--version");
        line.setOut(new PrintWriter(told));
        assertThat(line.execute(name, "--version")).isZero();
        assertThat(told.toString()).startsWith("globalfs ");
    }

    @Test
    void aCallThatNamesNoneKnowsAllInTheirOrder() {
        assertThat(GlobalFsCommand.commandLine().getSubcommands().keySet())
                .containsExactly(names());
        assertThat(GlobalFsCommand.commandLine("--help").getSubcommands().keySet())
                .containsExactly(names());
        assertThat(GlobalFsCommand.commandLine("statsu").getSubcommands().keySet())
                .containsExactly(names());
    }
}
