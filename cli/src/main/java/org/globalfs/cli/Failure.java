package org.globalfs.cli;

import java.net.BindException;
import java.nio.file.AccessDeniedException;
import java.util.HashSet;
import java.util.Set;
import org.apache.zookeeper.KeeperException;
import org.globalfs.multicast.log.LogException;
import org.globalfs.protocol.BindFailure;
import org.globalfs.protocol.FolderInUseException;
import org.globalfs.protocol.ForeignFolderException;
import org.globalfs.protocol.OpenFiles;
import org.globalfs.protocol.Threads;
import org.globalfs.protocol.config.ConfigException;
import org.jspecify.annotations.Nullable;

/** A command's end with an exit code and one line for the user. */
public final class Failure extends Exception {
    private static final long serialVersionUID = 1;

    private final int code;

    public Failure(int code, String message) {
        super(message);
        this.code = code;
    }

    public Failure(int code, String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public int code() {
        return code;
    }

    /** The exit code of anything thrown. */
    public static int codeOf(Throwable thrown) {
        Set<Throwable> met = new HashSet<>();
        for (Throwable t = thrown; t != null && met.add(t); t = t.getCause()) {
            int code =
                    switch (t) {
                        case Failure failure -> failure.code;
                        case ConfigException e -> ExitCode.CONFIG;
                        case BindException e when BindFailure.isDenied(e) -> ExitCode.CONFIG;
                        case BindException e -> ExitCode.PORT_BUSY;
                        case AccessDeniedException e -> ExitCode.CONFIG;
                        case ForeignFolderException e -> ExitCode.CONFIG;
                        case FolderInUseException e -> ExitCode.ALREADY_RUNNING;
                        case KeeperException e -> ExitCode.ZOOKEEPER;
                        case LogException e when e.reason() == LogException.Reason.REFUSED ->
                                ExitCode.CONFIG;
                        default -> ExitCode.OK;
                    };
            if (code != ExitCode.OK) {
                return code;
            }
        }
        return ExitCode.FAILED;
    }

    /** One line: what happened, and why if the cause says more. */
    public static String describe(Throwable thrown) {
        String message = text(thrown);
        if (thrown instanceof ConfigException) {
            return message; // it names file, line and mend; what a parser says adds its own words
        }
        Throwable cause = thrown.getCause();
        if (cause != null && cause.getMessage() != null && !message.contains(cause.getMessage())) {
            message += ": " + text(cause);
        }
        if (isDenied(thrown) && !message.contains("let user ")) {
            String what = message.contains("Permission denied") ? "" : "permission denied: ";
            message += ": " + what + letUser();
        }
        if (OpenFiles.areUsedUp(thrown) && !message.contains("ulimit")) {
            message += ". " + OpenFiles.remedy();
        }
        if (message.contains("unable to create native thread")) {
            message += ". " + Threads.remedy();
        }
        return message;
    }

    private static boolean isDenied(Throwable thrown) {
        Set<Throwable> met = new HashSet<>();
        for (Throwable t = thrown; t != null && met.add(t); t = t.getCause()) {
            if (t instanceof AccessDeniedException denied && denied.getReason() == null) {
                return true;
            }
        }
        return false;
    }

    private static String letUser() {
        return "let user '" + System.getProperty("user.name") + "' use it";
    }

    private static String text(Throwable thrown) {
        @Nullable String message = thrown.getMessage();
        boolean expected =
                thrown instanceof Failure
                        || thrown instanceof ConfigException
                        || thrown instanceof ForeignFolderException
                        || thrown instanceof FolderInUseException;
        if (message == null || message.isBlank()) {
            return thrown.getClass().getSimpleName();
        }
        if (thrown instanceof AccessDeniedException denied && denied.getReason() == null) {
            return message + ": permission denied: " + letUser();
        }
        return expected || thrown.getClass().getName().startsWith("java.io.IOException")
                ? message
                : message + " (" + thrown.getClass().getSimpleName() + ")";
    }
}
