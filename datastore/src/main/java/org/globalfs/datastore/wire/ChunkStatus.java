package org.globalfs.datastore.wire;

/** How a storage node answers a request. */
public enum ChunkStatus {
    OK(0),
    /** The node does not hold the chunk. */
    NOT_FOUND(1),
    /** The node holds the chunk, but its bytes do not match their checksum. */
    CORRUPT(2),
    /** The node's capacity or disk is full; deletes still work. */
    NO_SPACE(3),
    /**
     * The node's disk failed; it serves what it can still read and takes no writes until restarted.
     */
    IO_ERROR(4),
    BAD_REQUEST(5),
    WRONG_CLUSTER(6),
    /** Another node than the one asked for listens at this address. */
    WRONG_NODE(7),
    WRONG_VERSION(8),
    /** The block was deleted a moment ago: a late write must not bring it back. */
    DELETED(9),
    /**
     * Not an answer: stands in requests. A connection to a port that nobody listens on can end up
     * connected to itself, and a request that comes back must not pass for its reply.
     */
    REQUEST(255);

    private static final ChunkStatus[] BY_CODE = values();

    private final int code;

    ChunkStatus(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    /** An unknown code comes from a newer node: the request failed, whatever it means. */
    public static ChunkStatus of(int code) {
        return code >= 0 && code < BY_CODE.length && BY_CODE[code].code == code
                ? BY_CODE[code]
                : IO_ERROR;
    }
}
