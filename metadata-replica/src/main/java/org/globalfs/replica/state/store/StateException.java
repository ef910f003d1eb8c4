package org.globalfs.replica.state.store;

import org.globalfs.protocol.ForeignFolderException;
import org.jspecify.annotations.Nullable;

/**
 * The store of a partition failed (disk, corruption, unknown format): the process must stop serving
 * the partition.
 */
public final class StateException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final boolean damage;

    public StateException(String message) {
        this(message, null, false);
    }

    public StateException(String message, Throwable cause) {
        this(message, cause, false);
    }

    private StateException(String message, @Nullable Throwable cause, boolean damage) {
        super(message, cause);
        this.damage = damage;
    }

    static StateException damaged(String message, @Nullable Throwable cause) {
        return new StateException(message, cause, true);
    }

    /** The store is not this partition's. */
    public static StateException foreign(String message) {
        return new StateException(message, new ForeignFolderException(message), false);
    }

    /** The store's files are not what was written: another replica's state has to replace them. */
    public boolean isDamage() {
        return damage;
    }
}
