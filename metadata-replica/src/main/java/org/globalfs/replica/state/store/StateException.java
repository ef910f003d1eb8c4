package org.globalfs.replica.state.store;

/**
 * The store of a partition failed (disk, corruption, unknown format): the process must stop serving
 * the partition.
 */
public final class StateException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public StateException(String message) {
        super(message);
    }

    public StateException(String message, Throwable cause) {
        super(message, cause);
    }
}
