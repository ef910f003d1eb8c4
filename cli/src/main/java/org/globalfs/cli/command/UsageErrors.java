package org.globalfs.cli.command;

import java.util.List;
import org.globalfs.cli.ExitCode;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Tells in one line what is wrong with a call, and where to read how it is done. */
final class UsageErrors implements IParameterExceptionHandler {

    @Override
    public int handleParseException(ParameterException e, String[] arguments) {
        String command = e.getCommandLine().getCommandSpec().qualifiedName();
        System.err.println("globalfs: " + text(e) + ": try '" + command + " --help'");
        return ExitCode.USAGE;
    }

    private static String text(ParameterException e) {
        String message = String.valueOf(e.getMessage()).strip().replaceAll("\\s*\\R\\s*", " ");
        if (!(e instanceof UnmatchedArgumentException unmatched)) {
            return uncapitalized(message);
        }
        if (!unmatched.isUnknownOption() && isRoot(e.getCommandLine())) {
            message = "there is no command '" + unmatched.getUnmatched().getFirst() + "'";
        }
        List<String> meant = unmatched.getSuggestions();
        return uncapitalized(message)
                + (meant.isEmpty() ? "" : " (did you mean " + String.join(" or ", meant) + "?)");
    }

    private static boolean isRoot(CommandLine command) {
        return command.getParent() == null;
    }

    /** "Missing required …" stands in the middle of a line. */
    private static String uncapitalized(String message) {
        return message.isEmpty()
                ? message
                : Character.toLowerCase(message.charAt(0)) + message.substring(1);
    }
}
