package org.globalfs.client.meta;

/** A call to a replica brought no reply. Stackless: an expected event of a distributed system. */
public final class NoReplyException extends Exception {
    private static final long serialVersionUID = 1;

    /** How the call failed. */
    public enum Kind {
        /** Nobody listens there, or the connection broke: the process is gone. */
        UNREACHABLE,
        /** It accepted the call and says nothing: slow, stopped or cut off. */
        SILENT,
        /** It answered that it failed inside. */
        FAILED
    }

    private final Kind kind;

    public NoReplyException(Kind kind, String message) {
        super(message, null, false, false);
        this.kind = kind;
    }

    public Kind kind() {
        return kind;
    }
}
