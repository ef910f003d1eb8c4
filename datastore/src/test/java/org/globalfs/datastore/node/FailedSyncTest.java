package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Disk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Whoever meets a failed sync, nothing that it may have lost is acknowledged afterwards. */
@Timeout(60)
class FailedSyncTest {
    private static final DirectAppends CACHED = new DirectAppends(new DirectFiles(false));
    private static final ChunkShape SHAPE = AckedChunks.SHAPE;
    private static final int SEGMENT_BYTES = 1 << 20;

    /** Too large for the preparer, whose syncs would be counted, too. */
    private static final int CHUNK_BYTES = 200_000;

    @TempDir Path folder;
    private final Random random = new Random(4321);
    private final AckedChunks chunks = new AckedChunks();
    private final FailingDisk disk = new FailingDisk();

    private SegmentStore open() throws IOException {
        return SegmentStore.open(
                folder,
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, SEGMENT_BYTES, true),
                Disk.of(folder),
                disk);
    }

    private Map<ChunkKey, byte[]> some(int count) {
        Map<ChunkKey, byte[]> some = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            byte[] bytes = new byte[CHUNK_BYTES];
            random.nextBytes(bytes);
            some.put(new ChunkKey(random.nextLong(), random.nextLong(), 0), bytes);
        }
        return some;
    }

    private static SegmentStore.Written put(SegmentStore store, ChunkKey key) throws IOException {
        return store.put(key, SHAPE, null, ByteBuffer.allocateDirect(CHUNK_BYTES));
    }

    private static ChunkKey key(int i) {
        return new ChunkKey(i, i, 0);
    }

    /** A put waits for its sync while something else meets the failure. */
    private void assertLosesNothing(SegmentStore store, ThrowingCallable meets) throws IOException {
        SegmentStore.Written waiting = put(store, key(1));
        assertThat(waiting.status()).isEqualTo(ChunkStatus.OK);
        assertThatThrownBy(meets).isInstanceOf(IOException.class);
        assertThat(disk.hasFailed()).isTrue();
        assertThatThrownBy(() -> store.sync(waiting.ticket())).hasMessageContaining("disk failed");
        assertRefusesPuts(store);
    }

    private static void assertRefusesPuts(SegmentStore store) throws IOException {
        assertThat(put(store, key(2)).status()).isEqualTo(ChunkStatus.IO_ERROR);
    }

    @Test
    void aDeleteThatMeetsItEndsAllWrites() throws IOException {
        try (SegmentStore store = open()) {
            chunks.put(store, some(1));
            disk.failAfter(0);
            assertLosesNothing(store, () -> store.discard(chunks.live()));
        }
    }

    /** Others delete their copies, and make nothing anew, on its word. */
    @Test
    void whoseDiskFailedVouchesForNothing() throws IOException {
        try (SegmentStore store = open()) {
            chunks.put(store, some(1));
            store.sync();
            disk.failAtRecord();
            assertThatThrownBy(() -> put(store, key(1))).isInstanceOf(IOException.class);
            assertThatThrownBy(store::sync).hasMessageContaining("disk failed");
            assertRefusesPuts(store);
        }
    }

    @Test
    void aMoveThatMeetsItEndsAllWrites() throws IOException {
        try (SegmentStore store = open()) {
            chunks.put(store, some(1));
            ChunkKey moved = chunks.live().getFirst();
            long mark = store.leaves(moved);
            disk.failAfter(0);
            assertLosesNothing(store, () -> store.left(moved, mark));
        }
    }

    /** It lives on disk, and is not to be found by the next start only. */
    @Test
    void aChunkWhoseRecordCouldNotEndIsThereStill() throws IOException {
        try (SegmentStore store = open()) {
            chunks.put(store, some(1));
            ChunkKey moved = chunks.live().getFirst();
            long mark = store.leaves(moved);
            disk.failAfter(0);
            assertThatThrownBy(() -> store.left(moved, mark)).isInstanceOf(IOException.class);
            assertThat(store.count()).isEqualTo(1);
            chunks.check(store);
        }
    }

    @Test
    void aChunkWhoseOriginalCouldNotEndIsThereStill() throws IOException {
        try (SegmentStore store = open()) {
            chunks.put(store, some(6));
            ChunkKey copied = chunks.live().getFirst();
            SegmentFile first = store.location(copied).segment();
            copy(store, copied);
            store.sync();
            assertThat(store.location(copied).segment()).isNotSameAs(first);
            disk.failAfter(1); // the copy's segment can be told, the original's cannot
            assertThatThrownBy(() -> store.discard(List.of(copied)))
                    .isInstanceOf(IOException.class);
            assertThat(disk.hasFailed()).isTrue();
            assertThat(store.count()).isEqualTo(6);
            chunks.check(store);
        }
    }

    @Test
    void compactionThatMeetsItEndsAllWrites() throws IOException {
        try (SegmentStore store = open()) {
            chunks.put(store, some(1));
            copy(store, chunks.live().getFirst());
            store.sync();
            disk.failAfter(0);
            assertLosesNothing(store, () -> store.endOriginals(chunks.live()));
        }
    }

    @Test
    void aCheckpointThatMeetsItEndsAllWrites() throws IOException {
        SegmentStore store = open();
        try (store) {
            chunks.put(store, some(1));
            copy(store, chunks.live().getFirst());
            store.sync();
            disk.failAfter(0);
            assertThatThrownBy(store::checkpoint).isInstanceOf(IOException.class);
            assertRefusesPuts(store);
        }
    }

    /** It takes no writes any more, and readers go on finding what is on disk. */
    @Test
    void nothingIsCopiedOnADiskThatFailed() throws IOException {
        try (SegmentStore store = open();
                Compaction compaction = new Compaction(store, "n")) {
            List<ChunkKey> scattered = new ArrayList<>();
            for (int i = 0; i < 120; i++) {
                store.put(key(100 + i), SHAPE, new byte[10_000]);
                if (i % 2 == 1) {
                    scattered.add(key(100 + i));
                }
            }
            store.delete(scattered);
            ChunkKey stays = key(100);
            ChunkLocation synced = store.location(stays);
            assertThat(store.files().wasteful(false)).contains(synced.segment());
            put(store, key(1));
            disk.failAfter(0);
            assertThatThrownBy(store::sync).isInstanceOf(IOException.class);
            long usedBytes = store.files().usedBytes();
            assertThat(compaction.compact()).isZero();
            assertThat(store.location(stays)).isEqualTo(synced);
            assertThat(store.files().usedBytes()).isEqualTo(usedBytes);
            ChunkRecord header = store.header(stays);
            ByteBuffer data = ByteBuffer.allocateDirect(10_000);
            assertThatThrownBy(() -> store.copy(stays, synced, header, data))
                    .hasMessageContaining("disk failed");
        }
    }

    private static void copy(SegmentStore store, ChunkKey key) throws IOException {
        ByteBuffer data = ByteBuffer.allocateDirect(SegmentStore.readRoom(CHUNK_BYTES));
        assertThat(store.read(key, 0, CHUNK_BYTES, data)).isEqualTo(ChunkStatus.OK);
        assertThat(store.copy(key, store.location(key), store.header(key), data)).isTrue();
    }

    @Test
    void aRemovalThatMeetsItEndsAllWrites() throws IOException {
        try (SegmentStore store = open()) {
            chunks.put(store, some(8));
            SegmentFile first = store.files().all().getFirst();
            assertThat(first.sealed()).isTrue();
            List<ChunkKey> inFirst = new ArrayList<>(chunks.live());
            inFirst.removeIf(key -> store.location(key).segment() != first);
            disk.failAfter(1); // the one that says that something dies is not the one meant
            assertThatThrownBy(() -> store.discard(inFirst)).isInstanceOf(IOException.class);
            assertThat(disk.hasFailed()).isTrue();
            assertThat(first.path()).exists();
            assertRefusesPuts(store);
        }
    }

    /** What came behind the end that the header tells would be gone at the next start. */
    @Test
    void nothingIsAppendedBehindAnEndThatMayBeWritten() throws IOException {
        SegmentFile file = SegmentFile.create(folder, 1, "c", "n", disk);
        ByteBuffer record = ByteBuffer.allocate(64);
        file.append(record.slice(0, 32), record.slice(32, 32), 64, CACHED);
        disk.failAfter(1); // it is cut before
        assertThatThrownBy(() -> file.seal("c", "n")).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> file.append(record.slice(0, 32), record.slice(32, 32), 64, CACHED))
                .hasMessageContaining("takes no more records");
        assertThat(syncs(file)).isFalse();
        file.close();
    }

    @Test
    void sealingForCompactionThatMeetsItEndsAllWrites() throws Exception {
        try (SegmentStore store = open()) {
            for (int i = 0; i < 60; i++) {
                store.put(key(100 + i), SHAPE, new byte[10_000]);
            }
            store.sync();
            List<ChunkKey> scattered = new ArrayList<>();
            for (int i = 0; i < 60; i += 2) {
                scattered.add(key(100 + i));
            }
            awaitPreparer();
            store.delete(scattered);
            disk.failAfter(1);
            assertThatThrownBy(() -> store.files().wasteful(false)).isInstanceOf(IOException.class);
            assertThat(disk.hasFailed()).isTrue();
            assertRefusesPuts(store);
        }
    }

    /** Its syncs would be counted. */
    private static void awaitPreparer() throws InterruptedException {
        CountDownLatch idle = new CountDownLatch(1);
        SegmentPreparer.submit(idle::countDown);
        idle.await();
    }

    @Test
    void aSegmentThatAFullDiskKeptFromEndingIsEndedLater() throws IOException {
        try (SegmentStore store = open()) {
            chunks.put(store, some(4));
            Map<ChunkKey, byte[]> next = some(3);
            disk.fillBeforeSealing();
            ByteBuffer data = ByteBuffer.allocateDirect(SEGMENT_BYTES / 2);
            assertThat(store.put(key(1), SHAPE, null, data).status())
                    .isEqualTo(ChunkStatus.NO_SPACE);
            chunks.put(store, next);
            assertThat(store.files().all().getFirst().sealed()).isTrue();
        }
        try (SegmentStore store = open()) {
            chunks.check(store);
            assertThat(store.count()).isEqualTo(7);
        }
    }

    /** The kernel tells one of them only. */
    @Test
    void aSyncThatRunsMeanwhileFailsToo() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch fails = new CountDownLatch(1);
        AtomicBoolean first = new AtomicBoolean(true);
        SegmentFile file =
                SegmentFile.create(
                        folder,
                        1,
                        "c",
                        "n",
                        new FaultPoints() {
                            @Override
                            public void reached(Step step, Path path) {}

                            @Override
                            public void syncing(Path path) throws IOException {
                                if (first.compareAndSet(true, false)) {
                                    begun.countDown();
                                    awaitQuietly(fails);
                                    throw new IOException("Input/output error");
                                }
                            }
                        });
        FutureTask<Boolean> one = new FutureTask<>(() -> syncs(file));
        FutureTask<Boolean> other = new FutureTask<>(() -> syncs(file));
        Thread.ofPlatform().start(one);
        begun.await();
        Thread otherThread = Thread.ofPlatform().start(other);
        await().until(() -> other.isDone() || otherThread.getState() == Thread.State.WAITING);
        fails.countDown();
        assertThat(one.get()).isFalse();
        assertThat(other.get()).isFalse();
        assertThat(syncs(file)).as("later").isFalse();
        file.close();
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean syncs(SegmentFile file) {
        try {
            file.sync();
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
