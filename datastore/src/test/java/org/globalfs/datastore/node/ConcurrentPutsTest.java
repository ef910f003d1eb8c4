package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Disk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A client that got no answer in time sends its chunk again, while the first request goes on. */
@Timeout(60)
class ConcurrentPutsTest {
    private static final ChunkKey KEY = new ChunkKey(1, 2, 3);

    @TempDir Path folder;
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicInteger written = new AtomicInteger();

    private void reached(FaultPoints.Step step, Path path) {
        if (step == FaultPoints.Step.RECORD_WRITTEN) {
            written.incrementAndGet();
            try {
                go.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private FutureTask<ChunkStatus> put(SegmentStore store, Thread.Builder thread) {
        FutureTask<ChunkStatus> put =
                new FutureTask<>(() -> {
                    ByteBuffer data = ByteBuffer.allocateDirect(4_096);
                    SegmentStore.Written done = store.put(KEY, AckedChunks.SHAPE, null, data);
                    store.sync(done.ticket());
                    return done.status();
                });
        Thread started = thread.start(put);
        await().until(() -> started.getState() == Thread.State.WAITING || !started.isAlive());
        return put;
    }

    /** The record of the first could die before that of the second is on disk. */
    @Test
    void aChunkThatIsSentTwiceIsWrittenOnce() throws Exception {
        try (SegmentStore store = open()) {
            FutureTask<ChunkStatus> first = put(store, Thread.ofPlatform().daemon());
            FutureTask<ChunkStatus> second = put(store, Thread.ofPlatform().daemon());
            assertThat(written).hasValue(1);
            go.countDown();
            assertThat(first.get()).isEqualTo(ChunkStatus.OK);
            assertThat(second.get()).isEqualTo(ChunkStatus.OK);
            assertThat(written).hasValue(1);
        }
    }

    private SegmentStore open() throws IOException {
        return SegmentStore.open(
                folder,
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 1 << 20, true),
                Disk.of(folder),
                this::reached);
    }
}
