package org.globalfs.multicast.transport;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Stream;
import org.globalfs.protocol.Invariant;

/**
 * Direct buffers that are used again, because making and clearing one costs more than what goes
 * through it. Used by the event loop only.
 */
final class BufferPool {
    /** A value that is just too large to be copied must not keep many times its length. */
    static final int LEAST_BYTES = 16 << 10;

    /** Sizes are {@link #LEAST_BYTES} times a power of two; larger ones are not kept. */
    private static final int SIZES = 10;

    private static final long MOST_KEPT_BYTES = 32 << 20;

    /** A buffer and how many use it. */
    final class Lease {
        final ByteBuffer buffer;
        private final int size;
        private int users = 1;

        private Lease(ByteBuffer buffer, int size) {
            this.buffer = buffer;
            this.size = size;
        }

        void retain() {
            Invariant.check(users > 0, "a buffer that was given back");
            users++;
        }

        void release() {
            users--;
            Invariant.check(users >= 0, "a buffer given back twice");
            if (users == 0) {
                giveBack(buffer, size);
            }
        }
    }

    private final List<ArrayDeque<ByteBuffer>> free =
            Stream.generate(() -> new ArrayDeque<ByteBuffer>()).limit(SIZES).toList();
    private long keptBytes;

    /** What {@link #take} gives for so many bytes. */
    static int capacity(int bytes) {
        int size = sizeOf(bytes);
        return size >= SIZES ? bytes : LEAST_BYTES << size;
    }

    /** An empty little-endian buffer of at least this capacity. */
    Lease take(int bytes) {
        int size = sizeOf(bytes);
        ByteBuffer kept = size >= SIZES ? null : free.get(size).pollLast();
        if (kept == null) {
            return new Lease(direct(capacity(bytes)), size);
        }
        keptBytes -= kept.capacity();
        return new Lease(kept.clear(), size);
    }

    static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static int sizeOf(int bytes) {
        int units = (int) (((long) bytes + LEAST_BYTES - 1) / LEAST_BYTES);
        return units <= 1 ? 0 : Integer.SIZE - Integer.numberOfLeadingZeros(units - 1);
    }

    private void giveBack(ByteBuffer buffer, int size) {
        if (size < SIZES && keptBytes + buffer.capacity() <= MOST_KEPT_BYTES) {
            keptBytes += buffer.capacity();
            free.get(size).addLast(buffer);
        }
    }
}
