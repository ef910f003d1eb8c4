package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.FutureTask;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.DiskWatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class ChunkTableTest {
    private static final ChunkShape SHAPE = new ChunkShape(1_000, 1, 4, 2, 7);
    private static final int CHUNKS = 10_000;
    private static final int BYTES = 250;

    @TempDir Path folder;

    private ChunkTable table(ChunkIndex index) throws IOException {
        SegmentFolder files =
                new SegmentFolder(
                        folder,
                        new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 1 << 20, true),
                        new DiskWatch("n", folder, Disk.of(folder), 0),
                        new GroupSync(),
                        FaultPoints.NONE);
        return new ChunkTable(index, files, FaultPoints.NONE);
    }

    /** Whoever asks how much there is meanwhile may take a node for empty. */
    @Test
    void whatIsCountedAnewCountsAsBeforeUntilItIsDone() throws Exception {
        try (ChunkIndex index = ChunkIndex.open(folder.resolve("index"))) {
            for (int i = 0; i < CHUNKS; i++) {
                index.put(
                        new ChunkKey(i, i, 0),
                        new ChunkIndex.Row(1, 64 * i, 64, BYTES, SHAPE, "h"));
            }
            ChunkTable table = table(index);
            index.forEach(table::found);
            FutureTask<Void> recounts =
                    new FutureTask<>(() -> {
                        for (int i = 0; i < 20; i++) {
                            table.recount();
                        }
                        return null;
                    });
            Thread.ofPlatform().start(recounts);
            do {
                assertCounted(table);
            } while (!recounts.isDone());
            recounts.get();
            assertCounted(table);
        }
    }

    private static void assertCounted(ChunkTable table) {
        assertThat(table.chunks()).isEqualTo(CHUNKS);
        assertThat(table.liveBytes()).isEqualTo((long) CHUNKS * BYTES);
        assertThat(table.handoffChunks(_ -> true)).isEqualTo(CHUNKS);
        assertThat(table.codes())
                .singleElement()
                .satisfies(code -> assertThat(code.chunks()).isEqualTo(CHUNKS));
    }
}
