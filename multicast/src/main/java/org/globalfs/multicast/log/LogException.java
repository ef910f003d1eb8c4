package org.globalfs.multicast.log;

/** The log cannot go on: the process must stop. The message names the file and the mend. */
public final class LogException extends RuntimeException {
    public enum Reason {
        /** A record that was durable once cannot be read any more. */
        CORRUPT,
        /** A write, sync or read failed, a full disk included. */
        IO,
        /** The folder belongs to another cluster or node, is of a newer format, or is in use. */
        REFUSED
    }

    private final Reason reason;

    public LogException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public LogException(Reason reason, String message, Throwable cause) {
        super(message + ": " + cause.getMessage(), cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
