package org.globalfs.datastore.node;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Descriptors that a store keeps for when its process may open no more: with them a segment can be
 * made, into which others are emptied, so that theirs come back. For one thread at a time.
 */
final class SpareFile implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SpareFile.class);

    /** The new file's, and its folder's while that is synced. */
    private static final int DESCRIPTORS = 2;

    private final Path folder;
    private final @Nullable FileChannel[] held = new FileChannel[DESCRIPTORS];

    /**
     * @param folder is there
     */
    SpareFile(Path folder) {
        this.folder = folder;
    }

    /** Has them again, as far as they can be had now. */
    void take() {
        try {
            for (int i = 0; i < held.length; i++) {
                if (held[i] == null) {
                    held[i] = FileChannel.open(folder, StandardOpenOption.READ);
                }
            }
        } catch (IOException e) {
            LOG.debug("{}: no descriptor to spare: {}", folder, e.toString());
        }
    }

    /** Gives them up; false: there were none. */
    boolean give() throws IOException {
        boolean any = false;
        for (int i = 0; i < held.length; i++) {
            FileChannel one = held[i];
            held[i] = null;
            if (one != null) {
                any = true;
                one.close();
            }
        }
        return any;
    }

    @Override
    public void close() throws IOException {
        var _ = give();
    }
}
