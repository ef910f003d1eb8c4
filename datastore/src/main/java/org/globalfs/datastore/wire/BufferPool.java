package org.globalfs.datastore.wire;

import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.protocol.DirectIo;

/**
 * Direct buffers for transfers, shared by the process: allocating and clearing one costs more than
 * filling it.
 */
public final class BufferPool {
    /** So that a disk can fill them past the page cache. */
    private static final int ALIGNMENT = 4096;

    private static final int[] SIZES = {64 << 10, 256 << 10, 1280 << 10, 4608 << 10, 9 << 20};
    private static final int[] KEPT = {64, 32, 32, 8, 4};
    private static final Shelf[] SHELVES = new Shelf[SIZES.length];

    static {
        for (int i = 0; i < SIZES.length; i++) {
            SHELVES[i] = new Shelf(SIZES[i], KEPT[i]);
        }
    }

    private record Shelf(
            int size, int kept, ConcurrentLinkedQueue<ByteBuffer> free, AtomicInteger count) {
        Shelf(int size, int kept) {
            this(size, kept, new ConcurrentLinkedQueue<>(), new AtomicInteger());
        }
    }

    private BufferPool() {}

    /** A cleared buffer of at least `bytes`. */
    public static ByteBuffer take(int bytes) {
        for (Shelf shelf : SHELVES) {
            if (bytes <= shelf.size) {
                ByteBuffer buffer = shelf.free.poll();
                if (buffer == null) {
                    return DirectIo.buffer(shelf.size, ALIGNMENT);
                }
                shelf.count.decrementAndGet();
                return buffer.clear();
            }
        }
        return DirectIo.buffer(bytes, ALIGNMENT);
    }

    /** The capacity of what {@link #take} gives. */
    public static int capacity(int bytes) {
        for (int size : SIZES) {
            if (bytes <= size) {
                return size;
            }
        }
        return bytes;
    }

    /** Gives back a buffer got from {@link #take}; the caller must not touch it any more. */
    public static void give(ByteBuffer buffer) {
        for (Shelf shelf : SHELVES) {
            if (buffer.capacity() == shelf.size) {
                if (shelf.count.incrementAndGet() <= shelf.kept) {
                    shelf.free.add(buffer);
                } else {
                    shelf.count.decrementAndGet();
                }
                return;
            }
        }
    }
}
