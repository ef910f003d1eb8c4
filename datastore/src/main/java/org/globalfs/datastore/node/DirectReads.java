package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import org.globalfs.protocol.OpenFiles;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads what nobody reads again soon (scrub, repair, compaction, moves) past the page cache: that
 * keeps what others read, and what is checked is what the disk has. Thread-safe.
 */
final class DirectReads {
    private static final Logger LOG = LoggerFactory.getLogger(DirectReads.class);

    /** For less, the disk's reading ahead counts for more. */
    private static final int LEAST_BYTES = 128 << 10;

    private volatile boolean isPossible;

    /**
     * @param wanted false: everything is read through the page cache
     */
    DirectReads(boolean wanted) {
        isPossible = wanted;
    }

    /** Whether so much is read so, into this buffer. */
    boolean take(int bytes, ByteBuffer into) {
        return isPossible
                && bytes >= LEAST_BYTES
                && into.isDirect()
                && into.alignmentOffset(0, SegmentFile.BLOCK_BYTES) == 0;
    }

    /**
     * Fills `into`, from its position to its limit, as far as the file goes. These and the offset
     * are multiples of a block.
     */
    void read(SegmentFile from, ByteBuffer into, long offset) throws IOException {
        FileChannel channel = open(from);
        if (channel == null) {
            from.read(into, offset);
            return;
        }
        try (channel) {
            long at = offset;
            int n;
            do {
                n = channel.read(into, at);
                at += n;
            } while (n > 0 && n % SegmentFile.BLOCK_BYTES == 0 && into.hasRemaining());
        }
    }

    /** Null: not from this file system, or not now. */
    private @Nullable FileChannel open(SegmentFile from) throws IOException {
        try {
            return from.openDirect(StandardOpenOption.READ);
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException | UnsupportedOperationException e) {
            if (!OpenFiles.areUsedUp(e)) {
                isPossible = false;
                LOG.info("{}: all is read through the page cache: {}", from.path(), e.toString());
            }
            return null;
        }
    }
}
