package org.globalfs.client.io;

import org.globalfs.protocol.wire.BlockRef;

/** What a piece's bytes are taken from. */
sealed interface Source {

    /** Bytes at hand that never change. */
    record Embedded(byte[] bytes) implements Source {}

    /** A block in the datastore. */
    record Block(BlockRef ref) implements Source {}

    /** Bytes that the application wrote and that are not committed yet. */
    record Written(WriteBuffer buffer) implements Source {}
}
