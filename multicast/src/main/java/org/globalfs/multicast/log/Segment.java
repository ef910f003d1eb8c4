package org.globalfs.multicast.log;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * One open segment file with its index. Written by the log's writer; may be read by any thread that
 * holds a pin.
 */
final class Segment {
    final Path file;
    final FileChannel channel;
    final SegmentHeader header;
    final SegmentIndex index = new SegmentIndex();

    /** Where the next record goes. Writer only. */
    int end = SegmentHeader.BYTES;

    private int pins;
    private boolean retired;

    /** Retired, and without readers; read without the lock. */
    private volatile boolean free;

    private Runnable onUnpinned = () -> {};

    Segment(Path file, FileChannel channel, SegmentHeader header) {
        this.file = file;
        this.channel = channel;
        this.header = header;
    }

    long sequence() {
        return header.sequence();
    }

    /** Room for a record of this size, leaving space for the seal. */
    boolean fits(int recordBytes) {
        return (long) end + recordBytes + RecordFormat.SEAL_BYTES <= header.capacity();
    }

    void writeFully(ByteBuffer bytes, int at) throws IOException {
        int position = at;
        while (bytes.hasRemaining()) {
            position += channel.write(bytes, position);
        }
    }

    /** Reads at least {@code atLeast} bytes if the file has them, at most what the buffer holds. */
    void read(ByteBuffer into, int at, int atLeast) throws IOException {
        into.clear().order(ByteOrder.LITTLE_ENDIAN);
        while (into.position() < atLeast) {
            if (channel.read(into, at + into.position()) < 0) {
                break;
            }
        }
        into.flip();
    }

    /** False: the segment is gone. */
    synchronized boolean pin() {
        if (retired) {
            return false;
        }
        pins++;
        return true;
    }

    synchronized void unpin() {
        pins--;
        if (retired && pins == 0) {
            free = true;
            onUnpinned.run();
        }
    }

    /** Whether it is retired and nobody reads it any more. */
    boolean isFree() {
        return free;
    }

    /** No new readers; runs the action once the last one left. */
    synchronized void retire(Runnable whenUnpinned) {
        retired = true;
        onUnpinned = whenUnpinned;
        if (pins == 0) {
            free = true;
            whenUnpinned.run();
        }
    }
}
