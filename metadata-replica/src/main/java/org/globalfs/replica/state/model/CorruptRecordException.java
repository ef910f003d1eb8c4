package org.globalfs.replica.state.model;

/** A stored record is not what this program wrote. */
public final class CorruptRecordException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public CorruptRecordException(String message) {
        super(message);
    }
}
