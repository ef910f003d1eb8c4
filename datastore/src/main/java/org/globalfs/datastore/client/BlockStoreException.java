package org.globalfs.datastore.client;

import java.io.IOException;

/** Why a block could not be written, read or deleted. */
public final class BlockStoreException extends IOException {
    private static final long serialVersionUID = 1;

    /** What the caller may do about it. */
    public enum Reason {
        /** The storage nodes are full: ENOSPC. */
        NO_SPACE,
        /** Too few storage nodes answered before the deadline: may work later. */
        UNREACHABLE,
        /**
         * Every node answered, and fewer than k whole chunks exist: the block is deleted or lost.
         */
        LOST,
        /** The region has too few storage nodes or datacenters to survive the promised losses. */
        UNPLACEABLE,
        /** The store is closed. */
        CLOSED
    }

    private final Reason reason;

    public BlockStoreException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    public BlockStoreException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
