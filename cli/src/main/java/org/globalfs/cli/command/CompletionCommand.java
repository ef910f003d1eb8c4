package org.globalfs.cli.command;

import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints the completion script of bash and zsh. */
@Command(
        name = "completion",
        description = "Print shell completion for bash and zsh: source <(globalfs completion)",
        mixinStandardHelpOptions = true)
final class CompletionCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Override
    public void run() {
        System.out.print(AutoComplete.bash("globalfs", spec.root().commandLine()));
    }
}
