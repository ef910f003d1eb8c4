package org.globalfs.cli.command;

import picocli.AutoComplete;
import picocli.CommandLine.Command;

/** Prints the completion script of bash and zsh. */
@Command(
        name = "completion",
        description = "Print shell completion for bash and zsh: source <(globalfs completion)",
        mixinStandardHelpOptions = true)
final class CompletionCommand implements Runnable {
    @Override
    public void run() {
        System.out.print(AutoComplete.bash("globalfs", GlobalFsCommand.commandLine()));
    }
}
