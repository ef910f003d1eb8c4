package org.globalfs.protocol.rpc;

/** A call that brought no reply. */
public final class RpcException extends Exception {

    /** What the caller may conclude about the request. */
    public enum Outcome {
        /** The other side did not get it. */
        NOT_SENT,
        /** The other side may or may not have executed it. */
        UNKNOWN,
        /**
         * The other side answered that it cannot: unknown call, malformed request, or a failure
         * inside it.
         */
        REFUSED
    }

    private final Outcome outcome;

    RpcException(Outcome outcome, String message, Throwable cause) {
        super(message, cause);
        this.outcome = outcome;
    }

    RpcException(Outcome outcome, String message) {
        super(message);
        this.outcome = outcome;
    }

    public Outcome outcome() {
        return outcome;
    }
}
