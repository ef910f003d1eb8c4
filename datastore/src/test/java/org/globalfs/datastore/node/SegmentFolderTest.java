package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskWatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentFolderTest {
    @TempDir Path folder;

    /** Where space cannot be reserved, who writes zeros ahead may be first to find a full disk. */
    @Test
    void aCacheIsNotCalledAStorageNode() {
        assertThat(new SegmentStore.Options("c", "cache/c1", 1, 0, 8 << 20, false).spoken())
                .isEqualTo("cache c1");
        assertThat(new SegmentStore.Options("c", "s1", 1, 0, 8 << 20, true).spoken())
                .isEqualTo("storage node s1");
    }

    @Test
    void aDiskThatIsFullForZerosTakesChunksOnceThereIsRoom() throws IOException {
        AtomicInteger tried = new AtomicInteger();
        FaultPoints full =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void preparing(Path path) throws IOException {
                        tried.incrementAndGet();
                        throw new IOException("No space left on device");
                    }
                };
        SegmentStore.Options options =
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 8 << 20, true);
        ChunkShape shape = new ChunkShape(4_000, 1, 4, 2, 1);
        try (SegmentStore store = SegmentStore.open(folder, options, Disk.of(folder), full)) {
            AtomicInteger chunks = new AtomicInteger();
            // The second time comes once the first has ended.
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> {
                        ChunkKey key = new ChunkKey(1, chunks.incrementAndGet(), 0);
                        assertThat(store.put(key, shape, new byte[1_000]))
                                .isEqualTo(ChunkStatus.OK);
                        return tried.get() >= 2;
                    });
            store.sync();
            assertThat(store.statistics().writable()).isTrue();
        }
    }

    /** Who comes late must not write where another process may serve by then. */
    @Test
    void nothingBeginsInAClosedFolder() throws IOException {
        SegmentFolder files =
                new SegmentFolder(
                        folder,
                        new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 1 << 20, true),
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

    /** What is written into a file that was removed is gone with the process. */
    @Test
    void aFolderThatIsRemovedUnderItTakesNoMoreWrites() throws IOException {
        Path node = Files.createDirectory(folder.resolve("node"));
        SegmentStore.Options options =
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 8 << 20, true);
        ChunkShape shape = new ChunkShape(4_000, 1, 4, 2, 1);
        SegmentStore store = SegmentStore.open(node, options, Disk.of(node), FaultPoints.NONE);
        try {
            assertThat(store.put(new ChunkKey(1, 1, 0), shape, new byte[1_000]))
                    .isEqualTo(ChunkStatus.OK);
            store.sync();
            store.tick();
            assertThat(store.statistics().writable()).isTrue();

            Files.move(node, folder.resolve("elsewhere"));
            store.tick();
            assertThat(store.statistics().writable()).isFalse();
            Files.move(folder.resolve("elsewhere"), node);
            assertThat(store.put(new ChunkKey(1, 2, 0), shape, new byte[1_000]))
                    .isEqualTo(ChunkStatus.IO_ERROR);
        } finally {
            store.close();
        }
    }
}
