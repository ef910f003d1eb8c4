package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;

/**
 * Reads what nobody reads again soon (scrub, repair, compaction, moves) past the page cache: that
 * keeps what others read, and what is checked is what the disk has. Thread-safe.
 */
final class DirectReads {
    /** For less, the disk's reading ahead counts for more. */
    private static final int LEAST_BYTES = 128 << 10;

    private final DirectFiles files;

    DirectReads(DirectFiles files) {
        this.files = files;
    }

    /** Whether so much is read so, into this buffer. */
    boolean take(int bytes, ByteBuffer into) {
        return files.arePossible()
                && bytes >= LEAST_BYTES
                && into.isDirect()
                && into.alignmentOffset(0, SegmentFile.BLOCK_BYTES) == 0;
    }

    /**
     * Fills `into`, from its position to its limit, as far as the file goes. These and the offset
     * are multiples of a block.
     */
    void read(SegmentFile from, ByteBuffer into, long offset) throws IOException {
        int start = into.position();
        FileChannel channel = files.open(from, StandardOpenOption.READ);
        if (channel == null) {
            from.read(into, offset);
            return;
        }
        try (channel) {
            from.goesDirect();
            long at = offset;
            int n;
            do {
                n = channel.read(into, at);
                at += n;
            } while (n > 0 && n % SegmentFile.BLOCK_BYTES == 0 && into.hasRemaining());
        } catch (IOException e) {
            if (!files.isRefusal(from, e)) {
                throw e;
            }
            from.read(into.position(start), offset);
        }
    }
}
