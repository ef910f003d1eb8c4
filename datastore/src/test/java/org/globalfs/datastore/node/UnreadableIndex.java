package org.globalfs.datastore.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.function.Predicate;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.protocol.Disk;

/** A store whose index cannot be read where some chunks are, for other packages. */
public final class UnreadableIndex {
    private UnreadableIndex() {}

    /**
     * @param unread chunks that cannot be looked up now
     */
    public static SegmentStore open(
            Path folder, SegmentStore.Options options, Predicate<ChunkKey> unread)
            throws IOException {
        return SegmentStore.open(
                folder,
                options,
                Disk.of(folder),
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void lookingUp(ChunkKey key) {
                        if (unread.test(key)) {
                            throw new UncheckedIOException(new IOException("index"));
                        }
                    }
                });
    }
}
