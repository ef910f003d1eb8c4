package org.globalfs.bench;

/** Why nothing could be measured, in words for whoever started the benchmark. */
public final class BenchFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    public BenchFailure(String message) {
        super(message);
    }

    public BenchFailure(String message, Throwable cause) {
        super(message + ": " + cause.getMessage(), cause);
    }
}
