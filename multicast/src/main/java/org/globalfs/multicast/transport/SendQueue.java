package org.globalfs.multicast.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.globalfs.multicast.transport.BufferPool.Lease;

/**
 * Frames that wait for one connection's socket. Small ones are copied together; a large one stays
 * where it was encoded, for all connections that it goes to. Used by the event loop only.
 */
final class SendQueue {
    private static final int MOST_GATHERED = 32;

    /**
     * @param unsent a view of the buffer's bytes, up to where it is filled
     * @param open whether more may be added behind
     */
    private record Piece(Lease lease, ByteBuffer unsent, boolean open) {}

    private final BufferPool pool;
    private final int maxBytes;
    private final ArrayDeque<Piece> pieces = new ArrayDeque<>();
    private final ByteBuffer[] gathered = new ByteBuffer[MOST_GATHERED];
    private long bytes;

    /** What the buffers of all pieces take, sent or not. */
    private long held;

    /**
     * @param maxBytes of memory that what waits may take; one message may take more when no other
     *     but small ones waits
     */
    SendQueue(BufferPool pool, int maxBytes) {
        this.pool = pool;
        this.maxBytes = maxBytes;
    }

    boolean isEmpty() {
        return bytes == 0;
    }

    long bytes() {
        return bytes;
    }

    /** Adds a copy of these bytes. False: there is no room. */
    boolean copy(ByteBuffer frame) {
        int length = frame.remaining();
        Piece last = pieces.peekLast();
        if (last == null
                || !last.open
                || last.lease.buffer.capacity() - last.unsent.limit() < length) {
            if (!hasRoom(BufferPool.capacity(length))) {
                return false;
            }
            Lease fresh = pool.take(length);
            last = new Piece(fresh, fresh.buffer.duplicate().limit(0), true);
            add(last);
        }
        int at = last.unsent.limit();
        last.lease.buffer.put(at, frame, frame.position(), length);
        last.unsent.limit(at + length);
        bytes += length;
        return true;
    }

    /** Adds the buffer's bytes up to its position without copying them. False: there is no room. */
    boolean share(Lease frame) {
        if (!hasRoom(frame.buffer.capacity())) {
            return false;
        }
        frame.retain();
        add(new Piece(frame, frame.buffer.duplicate().flip(), false));
        bytes += frame.buffer.position();
        return true;
    }

    private boolean hasRoom(int capacity) {
        return held + capacity <= maxBytes || held <= BufferPool.LEAST_BYTES;
    }

    private void add(Piece piece) {
        pieces.add(piece);
        held += piece.lease.buffer.capacity();
    }

    private void release(Piece piece) {
        held -= piece.lease.buffer.capacity();
        piece.lease.release();
    }

    /** Hands over what the socket takes. */
    void writeTo(GatheringByteChannel channel) throws IOException {
        while (bytes > 0) {
            int count = 0;
            for (Piece piece : pieces) {
                if (count == MOST_GATHERED) {
                    break;
                }
                gathered[count++] = piece.unsent;
            }
            long written = channel.write(gathered, 0, count);
            bytes -= written;
            Arrays.fill(gathered, 0, count, null);
            boolean all = true;
            for (int i = 0; i < count && all; i++) {
                all = !pieces.getFirst().unsent.hasRemaining();
                if (all) {
                    release(pieces.removeFirst());
                }
            }
            if (!all) {
                return;
            }
        }
    }

    /** Gives everything up. */
    void clear() {
        for (Piece piece = pieces.poll(); piece != null; piece = pieces.poll()) {
            release(piece);
        }
        bytes = 0;
    }
}
