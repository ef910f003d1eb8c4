package org.globalfs.datastore.wire;

import java.io.IOException;

/** How far a storage node is with a pass over its chunks. */
public enum PassState {
    /** There was none since the node started. */
    NONE(0),
    /** One begins soon. */
    WAITING(1),
    RUNNING(2),
    /** The last one went through to its end. */
    ENDED(3),
    /** There are none on this node, by its configuration. */
    OFF(4);

    private static final PassState[] BY_CODE = values();

    private final int code;

    PassState(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    public static PassState of(int code) throws IOException {
        if (code < 0 || code >= BY_CODE.length) {
            throw new IOException("the storage node is of a newer version: it is in state " + code);
        }
        return BY_CODE[code];
    }
}
