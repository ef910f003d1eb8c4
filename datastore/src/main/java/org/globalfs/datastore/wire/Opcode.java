package org.globalfs.datastore.wire;

import org.jspecify.annotations.Nullable;

/** Requests of the storage protocol. A reply carries its request's opcode. */
public enum Opcode {
    HELLO(1),
    PING(2),
    PUT(3),
    GET(4),
    DELETE(5),
    HAS(6),
    LIST(7),
    STATS(8),
    /** Of a cache: what it has of a block's chunks. */
    CACHED(9),
    /** Begins a pass that reads all of the node's chunks, or asks how far it is. */
    SCRUB(10),
    /** Has the node's next repair pass begin now, or asks how far it is. */
    REPAIR(11),
    /** A range of whole pages as the disk has them, for the client to check. */
    GET_PAGES(12),
    /** The newest placement epoch that the node knows, for who may have an older one. */
    EPOCH(13);

    private static final @Nullable Opcode[] BY_CODE = new Opcode[14];

    static {
        for (Opcode opcode : values()) {
            BY_CODE[opcode.code] = opcode;
        }
    }

    /** What {@link #SCRUB} and {@link #REPAIR} ask for. */
    public static final byte LOOK = 0;

    /** Likewise. */
    public static final byte BEGIN = 1;

    private final int code;

    Opcode(int code) {
        this.code = code;
    }

    public int code() {
        return code;
    }

    public static @Nullable Opcode of(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
