package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.globalfs.datastore.wire.BufferPool;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.DirectIo;
import org.globalfs.protocol.Disk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What goes past the page cache is there as everything else is, and takes none of it. */
@Timeout(120)
class PastPageCacheTest {
    private static final ChunkShape SHAPE = new ChunkShape(4 << 20, 1, 4, 2, 1);
    private static final int LARGE = 1 << 20;

    private static final Disk ROOMY =
            new Disk() {
                @Override
                public long freeBytes() {
                    return 1 << 30;
                }

                @Override
                public long sizeBytes() {
                    return 1 << 30;
                }
            };

    @TempDir Path folder;
    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private final Map<ChunkKey, byte[]> chunks = new LinkedHashMap<>();

    private static SegmentStore.Options options(boolean pastPageCache) {
        return new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 8 << 20, pastPageCache);
    }

    private SegmentStore open(boolean pastPageCache) throws IOException {
        return SegmentStore.open(folder, options(pastPageCache));
    }

    private ChunkKey put(SegmentStore store, int length) throws IOException {
        ChunkKey key = new ChunkKey(random.nextLong(), random.nextLong(), random.nextInt(6));
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        String home = random.nextInt(4) == 0 ? "n".repeat(1 + random.nextInt(200)) : null;
        assertThat(store.keep(key, SHAPE, home, bytes)).isEqualTo(ChunkStatus.OK);
        chunks.put(key, bytes);
        return key;
    }

    private void assertHolds(SegmentStore store) throws IOException {
        assertThat(store.count()).isEqualTo(chunks.size());
        for (Map.Entry<ChunkKey, byte[]> chunk : chunks.entrySet()) {
            int length = chunk.getValue().length;
            assertRange(store, chunk.getKey(), 0, length);
            int from = random.nextInt(length);
            assertRange(store, chunk.getKey(), from, random.nextInt(length - from) + 1);
        }
    }

    private void assertRange(SegmentStore store, ChunkKey key, int from, int length)
            throws IOException {
        byte[] expected = Arrays.copyOfRange(chunks.get(key), from, from + length);
        ByteBuffer into = BufferPool.take(SegmentStore.readRoom(length));
        assertThat(store.readOnce(key, from, length, into)).isEqualTo(ChunkStatus.OK);
        assertRead(into, expected, key, from);
        assertThat(store.read(key, from, length, into)).isEqualTo(ChunkStatus.OK);
        assertRead(into, expected, key, from);
        BufferPool.give(into);
    }

    private void assertRead(ByteBuffer into, byte[] expected, ChunkKey key, int from) {
        byte[] bytes = new byte[into.remaining()];
        into.get(bytes);
        assertThat(Arrays.equals(bytes, expected))
                .as("%d bytes from %d of %s, seed %d", expected.length, from, key, seed)
                .isTrue();
    }

    @Test
    void chunksOfAllSizesAreAsTheyWereWritten() throws IOException {
        try (SegmentStore store = open(true)) {
            for (int i = 0; i < 60; i++) {
                put(store, 1 + random.nextInt(random.nextBoolean() ? 9_000 : 2_500_000));
            }
            assertHolds(store);
        }
        try (SegmentStore store = open(true);
                Compaction compaction = new Compaction(store, "n")) {
            assertHolds(store);
            var gone = chunks.keySet().stream().filter(_ -> random.nextBoolean()).toList();
            store.delete(gone);
            gone.forEach(chunks::remove);
            compaction.compact();
            assertHolds(store);
        }
        try (SegmentStore store = open(false)) { // as on a file system that takes no such writes
            assertHolds(store);
            put(store, LARGE);
            put(store, LARGE);
        }
        try (SegmentStore store = open(true)) {
            put(store, LARGE);
            assertHolds(store);
        }
    }

    /** One after the other needs no page of the cache, but for the segment's header. */
    @Test
    void largeChunksStayOutOfThePageCache() throws IOException, InterruptedException {
        assumeTrue(tellsOfThePageCache(), "fincore, and a file system that can");
        try (SegmentStore store = open(true)) {
            put(store, LARGE);
            ChunkKey key = put(store, LARGE);
            assertThat(cachedBytes()).isLessThan(64 << 10);
            ByteBuffer into = BufferPool.take(SegmentStore.readRoom(LARGE));
            assertThat(store.readOnce(key, 0, LARGE, into)).isEqualTo(ChunkStatus.OK);
            assertThat(cachedBytes()).isLessThan(64 << 10);
            assertThat(store.read(key, 0, LARGE, into)).isEqualTo(ChunkStatus.OK);
            assertThat(cachedBytes()).isGreaterThan(LARGE);
            BufferPool.give(into);
        }
    }

    @Test
    void aCachesChunksAreKeptInIt() throws IOException, InterruptedException {
        assumeTrue(tellsOfThePageCache(), "fincore, and a file system that can");
        try (SegmentStore store = open(false)) {
            put(store, LARGE);
            assertThat(cachedBytes()).isGreaterThan(LARGE);
        }
    }

    /** As some do that open a file so: no disk has failed, and no chunk is damaged. */
    @Test
    void aFileSystemThatRefusesItIsWrittenAndReadThroughThePageCache() throws IOException {
        try (SegmentStore store = open(true)) {
            put(store, LARGE);
        }
        try (SegmentStore store =
                SegmentStore.open(folder, options(true), Disk.of(folder), new Refusing())) {
            assertHolds(store); // refused when it is read
            put(store, LARGE);
            assertHolds(store);
        }
        try (SegmentStore store =
                SegmentStore.open(folder, options(true), Disk.of(folder), new Refusing())) {
            put(store, 100);
            put(store, LARGE); // refused when it is written
            put(store, LARGE);
            assertHolds(store);
            assertThat(store.statistics().writable()).isTrue();
            assertThat(store.statistics().corruptChunks()).isZero();
        }
        try (SegmentStore store = open(true)) {
            assertHolds(store);
        }
    }

    private static final class Refusing implements FaultPoints {
        @Override
        public void reached(Step step, Path path) {}

        @Override
        public void goingDirect(Path path) throws IOException {
            throw new IOException("Invalid argument");
        }
    }

    /** Ramfs does not open a file so; nor does it say how much room it has. */
    @Test
    void aFileSystemWithoutItIsWrittenAndReadThroughThePageCache() throws Exception {
        assumeTrue(System.getProperty("user.name", "").equals("root"), "only root mounts");
        run("mount", "-t", "ramfs", "none", folder.toString());
        try {
            Path probe = Files.createFile(folder.resolve("probe"));
            assertThatThrownBy(() -> FileChannel.open(probe, DirectIo.option().orElseThrow()))
                    .isInstanceOf(IOException.class);
            for (int i = 0; i < 2; i++) {
                try (SegmentStore store =
                        SegmentStore.open(folder, options(true), ROOMY, FaultPoints.NONE)) {
                    put(store, 100);
                    put(store, LARGE);
                    assertHolds(store);
                }
            }
        } finally {
            run("umount", folder.toString());
        }
    }

    private boolean tellsOfThePageCache() {
        Path probe = folder.resolve("probe");
        try {
            Files.write(probe, new byte[8192]);
            try (FileChannel channel =
                    FileChannel.open(
                            probe, StandardOpenOption.READ, DirectIo.option().orElseThrow())) {
                channel.read(DirectIo.buffer(4096, 4096), 0);
            }
            return cachedBytes(probe) == 8192;
        } catch (IOException | InterruptedException | UnsupportedOperationException e) {
            return false;
        }
    }

    private long cachedBytes() throws IOException, InterruptedException {
        long bytes = 0;
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.filter(f -> f.toString().endsWith(".chunks")).toList()) {
                bytes += cachedBytes(file);
            }
        }
        return bytes;
    }

    private static long cachedBytes(Path file) throws IOException, InterruptedException {
        return Long.parseLong(run("fincore", "-b", "-n", "-o", "RES", file.toString()));
    }

    private static String run(String... line) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        String said =
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", line) + ": " + said);
        }
        return said;
    }
}
