package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Disk;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An index whose disk is full when it writes. Needs root, for a small file system of its own. */
@Timeout(120)
class FullDiskIndexTest {
    private static final ChunkShape SHAPE = new ChunkShape(1000, 1, 4, 2, 7);
    private static final ChunkIndex.Row ROW = new ChunkIndex.Row(1, 4096, 1000, 900, SHAPE, null);

    private static final int RECORD_BYTES = SegmentStore.recordBytes(1_000);
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir Path folder;

    @BeforeEach
    void mount() throws Exception {
        assumeTrue(
                "root".equals(System.getProperty("user.name")),
                "SKIPPED: needs root to mount a small file system");
        run("mount", "-t", "tmpfs", "-o", "size=64m", "none", folder.toString());
    }

    @AfterEach
    void unmount() throws Exception {
        if (Files.getFileStore(folder).type().equals("tmpfs")) {
            run("umount", "--lazy", folder.toString());
        }
    }

    private static void run(String... command) throws Exception {
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor())
                .as(List.of(command).toString())
                .isZero();
    }

    private static ChunkKey key(int i) {
        return new ChunkKey(i, 0x9e3779b97f4a7c15L * i, 0);
    }

    private void takeTheLastByte() throws IOException {
        try (OutputStream to = Files.newOutputStream(folder.resolve("ballast"))) {
            assertThatThrownBy(
                            () -> {
                                while (true) {
                                    to.write(new byte[64 << 10]);
                                }
                            })
                    .hasMessageContaining("No space left");
        }
    }

    /** Whether it takes a change; says that the disk is full, if not. */
    private static boolean takes(ChunkIndex index, ChunkKey key) {
        try {
            index.put(key, ROW);
            return true;
        } catch (UncheckedIOException e) {
            assertThat(Disk.isFull(e.getCause())).as(e.getMessage()).isTrue();
            return false;
        }
    }

    /** Room for a checkpoint is room enough, and nothing has to be started again. */
    @Test
    void goesOnOnceThereIsRoomForACheckpoint() throws Exception {
        Path path = folder.resolve("index");
        try (ChunkIndex index = ChunkIndex.open(path)) {
            for (int i = 0; i < 10_000; i++) {
                index.put(key(i), ROW);
            }
            takeTheLastByte();
            index.checkpoint(new ChunkIndex.Checkpoint(1, 2));
            await().atMost(LIMIT).until(() -> !takes(index, key(-1)));
            assertThat(index.get(key(77))).isEqualTo(ROW);
            Files.delete(folder.resolve("ballast"));
            await().atMost(LIMIT).until(() -> takes(index, key(-2)));
            index.checkpoint(new ChunkIndex.Checkpoint(2, 2));
            index.awaitWritten(TimeUnit.SECONDS.toMillis(30));
        }
        try (ChunkIndex index = ChunkIndex.open(path)) {
            assertThat(index.openedAt().number()).isEqualTo(2);
            assertThat(index.get(key(9_999))).isEqualTo(ROW);
            assertThat(index.get(key(-2))).isEqualTo(ROW);
        }
    }

    /** As the index does, so does the store; chunks that it had to refuse leave nothing behind. */
    @Test
    void aStoreGoesOnToo() throws Exception {
        Path data = Files.createDirectory(folder.resolve("data"));
        SegmentStore.Options options =
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 4 << 20, true);
        AckedChunks chunks = new AckedChunks();
        ChunkKey refused;
        try (SegmentStore store = SegmentStore.open(data, options)) {
            chunks.put(store, Map.of(key(1), new byte[1_000], key(2), new byte[1_000]));
            takeTheLastByte();
            store.checkpoint();
            AtomicInteger tried = new AtomicInteger(10);
            await().atMost(LIMIT)
                    .until(() -> put(store, key(tried.incrementAndGet())) == ChunkStatus.NO_SPACE);
            assertThatThrownBy(() -> store.delete(List.of(key(1))))
                    .hasMessageContaining("No space left");
            refused = key(tried.get());
            long garbage = store.files().garbageBytes();
            assertThat(garbage).as("of the one that found out").isPositive();
            for (int i = 0; i < 100; i++) {
                assertThat(put(store, refused)).isEqualTo(ChunkStatus.NO_SPACE);
                assertThat(copied(store, key(1))).isFalse();
            }
            assertThat(store.files().garbageBytes()).isEqualTo(garbage);
            chunks.check(store);
            Files.delete(folder.resolve("ballast"));
            await().atMost(LIMIT).until(() -> put(store, key(3)) == ChunkStatus.OK);
            assertThat(store.delete(List.of(key(1), refused))).isEqualTo(1);
            assertThat(store.files().garbageBytes() - garbage).isEqualTo(RECORD_BYTES);
        }
        try (SegmentStore store = SegmentStore.open(data, options)) {
            assertThat(store.has(key(1))).isFalse();
            assertThat(store.has(key(2))).isTrue();
            assertThat(store.has(key(3))).isTrue();
            assertThat(store.has(refused)).isFalse();
        }
    }

    /**
     * The record that is copied dies once, and the copy that the index refuses is not found later.
     */
    @Test
    void aCopyThatIsRefusedIsUndone() throws Exception {
        Path data = Files.createDirectory(folder.resolve("data"));
        SegmentStore.Options options =
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 4 << 20, true);
        AckedChunks chunks = new AckedChunks();
        try (SegmentStore store = SegmentStore.open(data, options)) {
            chunks.put(store, Map.of(key(1), new byte[1_000], key(2), new byte[1_000]));
            takeTheLastByte();
            store.checkpoint();
            await().atMost(LIMIT)
                    .until(() -> {
                        boolean copied = copied(store, key(1));
                        if (copied) {
                            store.endOriginals(List.of(key(1)));
                        }
                        return !copied;
                    });
            long garbage = store.files().garbageBytes();
            chunks.check(store);
            Files.delete(folder.resolve("ballast"));
            await().atMost(LIMIT).until(() -> put(store, key(3)) == ChunkStatus.OK);
            assertThat(store.delete(List.of(key(1)))).isEqualTo(1);
            assertThat(store.files().garbageBytes() - garbage).isEqualTo(RECORD_BYTES);
            assertThat(store.has(key(2))).isTrue();
        }
        try (SegmentStore store = SegmentStore.open(data, options)) {
            assertThat(store.has(key(1))).isFalse();
            assertThat(store.has(key(2))).isTrue();
        }
    }

    /** What compaction does. */
    private static boolean copied(SegmentStore store, ChunkKey key) throws IOException {
        ChunkLocation from = store.location(key);
        return store.copy(
                key, from, store.header(key), ByteBuffer.allocateDirect(1_000).limit(1_000));
    }

    private static ChunkStatus put(SegmentStore store, ChunkKey key) {
        try {
            return store.keep(key, SHAPE, null, new byte[1_000]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
