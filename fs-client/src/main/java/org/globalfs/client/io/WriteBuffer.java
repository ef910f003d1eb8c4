package org.globalfs.client.io;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import org.globalfs.protocol.Invariant;
import org.globalfs.protocol.wire.BlockRef;
import org.jspecify.annotations.Nullable;

/**
 * Written bytes on their way to becoming one block. Grows at its end and may be overwritten in
 * place until it is frozen. Guarded by the lock of the file that it belongs to, while not frozen.
 */
final class WriteBuffer {

    static final int MAX_BYTES = 4 << 20;

    /** Memory that a write takes besides its content, at most: a buffer's least, and its place. */
    static final int BESIDES_BYTES = 512;

    private static final int MIN_BYTES = 256;

    private byte[] bytes;
    private int used;
    private @Nullable CompletableFuture<BlockRef> upload;

    WriteBuffer(int expectedBytes) {
        bytes = new byte[Math.clamp(expectedBytes, MIN_BYTES, MAX_BYTES)];
    }

    int used() {
        return used;
    }

    boolean full() {
        return used == MAX_BYTES;
    }

    boolean frozen() {
        return upload != null;
    }

    @Nullable CompletableFuture<BlockRef> upload() {
        return upload;
    }

    /** No change from now on: its content is being stored as a block. */
    void freeze(CompletableFuture<BlockRef> storing) {
        upload = storing;
    }

    /** Appends as much as fits; returns how much. */
    int append(ByteBuffer from, int atMost) {
        Invariant.check(!frozen(), "write into a frozen buffer");
        int count = Math.min(atMost, MAX_BYTES - used);
        if (used + count > bytes.length) {
            bytes =
                    Arrays.copyOf(
                            bytes, Math.min(MAX_BYTES, Math.max(bytes.length * 2, used + count)));
        }
        from.get(bytes, used, count);
        used += count;
        return count;
    }

    void overwrite(int at, ByteBuffer from, int count) {
        Invariant.check(!frozen() && at + count <= used, "overwrite outside of the buffer");
        from.get(bytes, at, count);
    }

    byte[] copy(int from, int count) {
        return Arrays.copyOfRange(bytes, from, from + count);
    }

    ByteBuffer view(int from, int count) {
        return ByteBuffer.wrap(bytes, from, count).slice().asReadOnlyBuffer();
    }

    /** The bytes themselves; only once nothing changes them any more. */
    ByteBuffer content() {
        return ByteBuffer.wrap(bytes, 0, used).slice();
    }
}
