package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import org.globalfs.protocol.OpenFiles;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether a store's segments can be written and read past the page cache. Thread-safe. */
final class DirectFiles {
    private static final Logger LOG = LoggerFactory.getLogger(DirectFiles.class);

    private volatile boolean possible;

    /**
     * @param wanted false: everything goes through the page cache
     */
    DirectFiles(boolean wanted) {
        possible = wanted;
    }

    boolean arePossible() {
        return possible;
    }

    /** Null: not on this file system, or not now. */
    @Nullable FileChannel open(SegmentFile file, OpenOption mode) throws ClosedChannelException {
        try {
            return file.openDirect(mode);
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException | UnsupportedOperationException e) {
            if (!OpenFiles.areUsedUp(e)) {
                giveUp(file, e);
            }
            return null;
        }
    }

    /** Some file systems open a file so, and then take neither writes nor reads: EINVAL. */
    boolean isRefusal(SegmentFile file, IOException e) {
        boolean refusal = "Invalid argument".equals(e.getMessage());
        if (refusal) {
            giveUp(file, e);
        }
        return refusal;
    }

    private void giveUp(SegmentFile file, Exception why) {
        if (possible) {
            possible = false;
            LOG.info("{}: all goes through the page cache: {}", file.path(), why.toString());
        }
    }
}
