package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import org.globalfs.protocol.DirectIo;
import org.jspecify.annotations.Nullable;

/**
 * Brings large records into their segment past the page cache: nobody reads them soon, and pages
 * for them, and what they push out, cost more than the write does.
 *
 * <p>It takes whole disk blocks. Large records end with one, padded with zeros, so that the next
 * can begin with one. What of a record stands in a block with the one before it goes through the
 * page cache, as do headers that end a record later; the kernel keeps both ways in step. Everything
 * under the store's append lock.
 */
final class DirectAppends implements AutoCloseable {
    /** Records from this size on. */
    private static final int LEAST_BYTES = 256 << 10;

    private static final int BLOCK_BYTES = SegmentFile.BLOCK_BYTES;

    /** Most records are written at once. */
    private static final int BUFFER_BYTES = (1 << 20) + (64 << 10);

    private static final byte[] ZEROS = new byte[BLOCK_BYTES];

    private final DirectFiles files;
    private @Nullable ByteBuffer buffer;
    private @Nullable SegmentFile segment;
    private @Nullable FileChannel channel;

    DirectAppends(DirectFiles files) {
        this.files = files;
    }

    /** The distance from a record to the next. */
    int recordBytes(int leastBytes, int offset) {
        if (!files.arePossible() || leastBytes < LEAST_BYTES) {
            return leastBytes;
        }
        return align(offset + leastBytes) - offset;
    }

    /** What {@link #recordBytes} can be at most, wherever the record begins. */
    int mostBytes(int leastBytes) {
        return files.arePossible() && leastBytes >= LEAST_BYTES
                ? leastBytes + BLOCK_BYTES
                : leastBytes;
    }

    private static int align(int bytes) {
        return (bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
    }

    /**
     * Writes a record at the segment's tail. False: nothing is written, and it has to go through
     * the page cache.
     */
    boolean write(SegmentFile to, ByteBuffer header, ByteBuffer data, int recordBytes)
            throws IOException {
        int at = to.tail();
        if (!files.arePossible()
                || recordBytes < LEAST_BYTES
                || align(at + recordBytes) > at + recordBytes) {
            return false;
        }
        FileChannel past = channel(to);
        if (past == null) {
            return false;
        }
        ByteBuffer[] parts = {header, data};
        ByteBuffer block = buffer();
        int shared = align(at) - at;
        if (shared > 0) {
            fill(block.clear().limit(shared), parts);
            to.writeFully(block.flip(), at);
            to.begun();
        }
        int from = at + shared;
        int end = at + recordBytes;
        while (from < end) {
            fill(block.clear().limit(Math.min(block.capacity(), end - from)), parts);
            block.flip();
            int bytes = block.remaining();
            write(to, past, block, from);
            from += bytes;
            if (from < end) {
                to.begun();
            }
        }
        return true;
    }

    private void write(SegmentFile to, FileChannel past, ByteBuffer block, long offset)
            throws IOException {
        long at = offset;
        try {
            to.goesDirect();
            while (block.hasRemaining()) {
                at += past.write(block, at);
            }
        } catch (IOException e) {
            if (!files.isRefusal(to, e)) {
                throw e;
            }
            to.writeFully(block, at);
        }
    }

    /** Up to the limit; what the parts do not fill is padding. */
    private static void fill(ByteBuffer block, ByteBuffer[] parts) {
        for (ByteBuffer part : parts) {
            int length = Math.min(block.remaining(), part.remaining());
            block.put(block.position(), part, part.position(), length);
            block.position(block.position() + length);
            part.position(part.position() + length);
        }
        while (block.hasRemaining()) {
            block.put(ZEROS, 0, Math.min(ZEROS.length, block.remaining()));
        }
    }

    private ByteBuffer buffer() {
        ByteBuffer there = buffer;
        if (there == null) {
            there = DirectIo.buffer(BUFFER_BYTES, BLOCK_BYTES);
            buffer = there;
        }
        return there;
    }

    /** Null: not to this file system, or not now. */
    private @Nullable FileChannel channel(SegmentFile to) throws IOException {
        if (segment != to) {
            close();
            channel = files.open(to, StandardOpenOption.WRITE);
            segment = channel == null ? null : to;
        }
        return channel;
    }

    /** The segment takes no more records. */
    @Override
    public void close() throws IOException {
        FileChannel open = channel;
        channel = null;
        segment = null;
        if (open != null) {
            open.close();
        }
    }
}
