package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskWatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentFolderTest {
    @TempDir Path folder;

    /** Who comes late must not write where another process may serve by then. */
    @Test
    void nothingBeginsInAClosedFolder() throws IOException {
        SegmentFolder files =
                new SegmentFolder(
                        folder,
                        new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 1 << 20),
                        new DiskWatch("test", folder, Disk.of(folder), 0),
                        new GroupSync(),
                        FaultPoints.NONE);
        files.close();
        files.appendLock.lock();
        try {
            assertThatThrownBy(() -> files.roomFor(1_000, false))
                    .isInstanceOf(ClosedChannelException.class);
        } finally {
            files.appendLock.unlock();
        }
        assertThat(folder).isEmptyDirectory();
    }
}
