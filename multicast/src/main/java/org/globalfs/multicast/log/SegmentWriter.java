package org.globalfs.multicast.log;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import org.globalfs.protocol.DirectIo;
import org.globalfs.protocol.Invariant;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings what is appended to a segment into its file, and onto the disk. Of one thread.
 *
 * <p>Where the file system can, a sync writes past the page cache (O_DIRECT) and returns once the
 * disk has it (O_DSYNC), which spares the kernel most of the work of a write and an fdatasync. It
 * takes whole blocks: the last one is padded with zeros, and written again, with the same bytes and
 * more, by the next sync. What has to be readable before it is durable, or does not fit the buffer,
 * goes through the page cache, as everything does on other file systems, and so does the sync that
 * follows.
 */
final class SegmentWriter implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(SegmentWriter.class);
    private static final int BUFFER_BYTES = 1 << 20;
    private static final int CACHED_ONLY = 1;
    private static final byte[] ZEROS = new byte[SegmentHeader.BYTES];

    private final boolean durable;

    /** The buffer begins at a multiple of it. */
    private final int blockBytes;

    private Segment segment;
    private @Nullable FileChannel direct;
    private ByteBuffer buffer;

    /** Where the buffer's first byte is in the segment. */
    private int at;

    /** So many of the buffer's bytes are in the file already. */
    private int written;

    /** Something is in the page cache that may not be on disk. */
    private boolean cached;

    private int durableEnd;

    /**
     * @param first nothing stands in it but its header
     * @param durable false: {@link #sync} does not wait for the disk
     */
    SegmentWriter(Segment first, boolean durable) throws IOException {
        this.durable = durable;
        segment = first;
        blockBytes = durable ? tryDirect(first) : CACHED_ONLY;
        buffer = allocate(BUFFER_BYTES);
        begin(first);
    }

    /** The block size for writes past the page cache to this file; 1: they do not work. */
    private static int tryDirect(Segment segment) throws IOException {
        long size = Files.getFileStore(segment.file).getBlockSize();
        if (size > SegmentHeader.BYTES || SegmentHeader.BYTES % size != 0) {
            log.info("log blocks of {} bytes: writing through the page cache", size);
            return CACHED_ONLY;
        }
        int blockBytes = (int) size;
        if (DirectIo.option().isEmpty() || segment.end + blockBytes > segment.header.capacity()) {
            return CACHED_ONLY;
        }
        try (FileChannel channel = openDirect(segment)) {
            ByteBuffer zeros = allocate(blockBytes, blockBytes);
            while (zeros.hasRemaining()) {
                channel.write(zeros, segment.end + zeros.position());
            }
            return blockBytes;
        } catch (IOException | UnsupportedOperationException e) {
            // Nothing is in the segment yet, and a disk that fails lets the next write fail, too.
            log.info("{}: writing through the page cache: {}", segment.file, e.toString());
            return CACHED_ONLY;
        }
    }

    private static FileChannel openDirect(Segment segment) throws IOException {
        return FileChannel.open(
                segment.file,
                StandardOpenOption.WRITE,
                StandardOpenOption.DSYNC,
                DirectIo.option().orElseThrow());
    }

    private ByteBuffer allocate(int bytes) {
        return allocate(Math.ceilDiv(bytes, blockBytes) * blockBytes, blockBytes);
    }

    private static ByteBuffer allocate(int bytes, int alignment) {
        return DirectIo.buffer(bytes, alignment).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * The next segment; everything of the one before was synced, and this one has only a header.
     */
    void begin(Segment next) throws IOException {
        Invariant.check(buffer.position() == written, "%s is not written out", segment.file);
        Invariant.check(next.end % blockBytes == 0, "%s begins within a block", next.file);
        close();
        segment = next;
        at = next.end;
        durableEnd = next.end;
        written = 0;
        cached = false;
        buffer.clear();
        if (blockBytes > CACHED_ONLY) {
            direct = openDirect(next);
        }
    }

    /** Whether writes go past the page cache. */
    boolean isDirect() {
        return blockBytes > CACHED_ONLY;
    }

    /** How far the segment is known to be on disk. */
    int durable() {
        return durableEnd;
    }

    /** Where to append: room for so many bytes behind the buffer's position. Little-endian. */
    ByteBuffer room(int bytes) throws IOException {
        if (buffer.remaining() < bytes) {
            write();
        }
        if (buffer.remaining() < bytes) {
            ByteBuffer larger = allocate(Math.max(written + bytes, 2 * buffer.capacity()));
            buffer = larger.put(buffer.flip());
        }
        return buffer;
    }

    /** What was appended can be read from the file. */
    void write() throws IOException {
        int end = buffer.position();
        if (end == written) {
            return;
        }
        segment.writeFully(buffer.flip().position(written), at + written);
        cached = true;
        keepLastBlock(end);
    }

    /** What was appended can be read from the file, and is on disk if this log is durable. */
    void sync() throws IOException {
        int end = buffer.position();
        int blocksEnd = Math.ceilDiv(end, blockBytes) * blockBytes;
        FileChannel past = direct;
        if (past != null
                && !cached
                && end > written
                && at + blocksEnd <= segment.header.capacity()) {
            buffer.limit(blocksEnd).put(end, ZEROS, 0, blocksEnd - end).position(0);
            while (buffer.hasRemaining()) {
                past.write(buffer, at + buffer.position());
            }
            keepLastBlock(end);
        } else {
            write();
            if (durable && cached) {
                segment.channel.force(false);
            }
        }
        cached = false;
        if (durable) {
            durableEnd = at + written;
        }
    }

    /** Of what is in the file, to which appended bytes are added. */
    private void keepLastBlock(int end) {
        int kept = end % blockBytes;
        int from = end - kept;
        buffer.clear();
        if (from > 0) {
            buffer.put(0, buffer, from, kept);
            at += from;
        }
        written = kept;
        buffer.position(kept);
    }

    @Override
    public void close() throws IOException {
        if (direct != null) {
            direct.close();
            direct = null;
        }
    }
}
