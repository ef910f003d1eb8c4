package org.globalfs.cli;

import org.globalfs.cli.command.GlobalFsCommand;

/** The entry point of the {@code globalfs} program. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        int code = GlobalFsCommand.commandLine(args).execute(args);
        System.out.flush();
        System.exit(code);
    }
}
