package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkPages;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.Folders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SegmentStoreTest {
    private static final ChunkShape SHAPE = new ChunkShape(1000, 1, 4, 2, 7);
    private static final int SEGMENT_BYTES = 4 << 20;

    @TempDir Path folder;
    private final Random random = new Random(1234);

    private SegmentStore open() throws IOException {
        return open(Long.MAX_VALUE);
    }

    private SegmentStore open(long capacityBytes) throws IOException {
        return SegmentStore.open(
                folder, new SegmentStore.Options("c", "n", capacityBytes, 0, SEGMENT_BYTES, true));
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private ChunkKey key() {
        return new ChunkKey(random.nextLong(), random.nextLong(), random.nextInt(6));
    }

    private static ChunkStatus put(SegmentStore store, ChunkKey key, String home, byte[] data)
            throws IOException {
        ByteBuffer direct = ByteBuffer.allocateDirect(data.length).put(data).flip();
        SegmentStore.Written written = store.put(key, SHAPE, home, direct);
        store.sync(written.ticket());
        return written.status();
    }

    private static byte[] get(SegmentStore store, ChunkKey key, int offset, int length)
            throws IOException {
        ByteBuffer into = ByteBuffer.allocateDirect(SegmentStore.readRoom(length));
        assertThat(store.read(key, offset, length, into)).isEqualTo(ChunkStatus.OK);
        byte[] bytes = new byte[into.remaining()];
        into.get(bytes);
        return bytes;
    }

    private static ChunkStatus status(SegmentStore store, ChunkKey key) throws IOException {
        return store.read(key, 0, 1, ByteBuffer.allocateDirect(SegmentStore.readRoom(1)));
    }

    private Map<ChunkKey, byte[]> fill(SegmentStore store, int count, int maxBytes)
            throws IOException {
        Map<ChunkKey, byte[]> chunks = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            ChunkKey key = key();
            byte[] data = bytes(1 + random.nextInt(maxBytes));
            assertThat(put(store, key, i % 5 == 0 ? "other-node" : null, data))
                    .isEqualTo(ChunkStatus.OK);
            chunks.put(key, data);
        }
        return chunks;
    }

    private static void assertHolds(SegmentStore store, Map<ChunkKey, byte[]> chunks)
            throws IOException {
        for (Map.Entry<ChunkKey, byte[]> chunk : chunks.entrySet()) {
            byte[] data = chunk.getValue();
            assertThat(get(store, chunk.getKey(), 0, data.length)).isEqualTo(data);
            int from = data.length / 3;
            assertThat(get(store, chunk.getKey(), from, data.length - from))
                    .isEqualTo(Arrays.copyOfRange(data, from, data.length));
        }
        assertThat(store.statistics().chunks()).isEqualTo(chunks.size());
    }

    private Path onlySegment() throws IOException {
        List<Path> segments = segments();
        assertThat(segments).hasSize(1);
        return segments.getFirst();
    }

    private List<Path> segments() throws IOException {
        try (var files = Files.list(folder)) {
            return files.filter(p -> p.toString().endsWith(".chunks")).sorted().toList();
        }
    }

    @Test
    void chunksOverManySegmentsSurviveARestart() throws IOException {
        Map<ChunkKey, byte[]> chunks;
        try (SegmentStore store = open()) {
            chunks = fill(store, 300, 120_000);
            chunks.putAll(fill(store, 5, 1 << 20));
            assertHolds(store, chunks);
        }
        assertThat(segments()).hasSizeGreaterThan(3);
        try (SegmentStore store = open()) {
            assertHolds(store, chunks);
            assertThat(store.statistics().handoffChunks()).isEqualTo(61);
            chunks.putAll(fill(store, 20, 50_000));
            assertHolds(store, chunks);
        }
        try (SegmentStore store = open()) {
            assertHolds(store, chunks);
        }
    }

    @Test
    void deletesAreDurableAndGiveSpaceBack() throws IOException {
        Map<ChunkKey, byte[]> chunks;
        try (SegmentStore store = open()) {
            chunks = fill(store, 400, 60_000);
            long used = store.statistics().usedBytes();
            List<ChunkKey> gone = new ArrayList<>(chunks.keySet()).subList(0, 350);
            assertThat(store.delete(gone)).isEqualTo(350);
            assertThat(store.delete(gone)).isZero();
            gone.forEach(chunks::remove);
            assertHolds(store, chunks);
            assertThat(store.statistics().usedBytes()).isLessThan(used / 4);
        }
        long usedAtEnd;
        try (SegmentStore store = open()) {
            assertHolds(store, chunks);
            usedAtEnd = store.statistics().usedBytes();
            store.delete(new ArrayList<>(chunks.keySet()));
            assertThat(store.statistics().usedBytes()).isLessThan(usedAtEnd);
        }
        try (SegmentStore store = open()) {
            assertThat(store.statistics().chunks()).isZero();
        }
    }

    @Test
    void randomDeletesNeverTouchNeighbours() throws IOException {
        Map<ChunkKey, byte[]> chunks;
        try (SegmentStore store = open()) {
            chunks = fill(store, 600, 20_000);
            for (int i = 0; i < 500; i++) {
                List<ChunkKey> keys = new ArrayList<>(chunks.keySet());
                ChunkKey gone = keys.get(random.nextInt(keys.size()));
                store.delete(List.of(gone));
                chunks.remove(gone);
            }
            assertHolds(store, chunks);
        }
        try (SegmentStore store = open()) {
            assertHolds(store, chunks);
        }
    }

    @Test
    void tornTailIsCutAndWhatWasAcknowledgedStays() throws IOException {
        for (int cut : new int[] {1, 30, 64, 100, 5_000, 9_900}) {
            Map<ChunkKey, byte[]> chunks;
            ChunkKey torn = key();
            long tail;
            try (SegmentStore store = open()) {
                chunks = fill(store, 10, 8_000);
                tail = Files.size(onlySegment());
                ChunkLocation before = store.location(lastKey(chunks));
                tail = (long) before.offset() + before.recordBytes();
                put(store, torn, null, bytes(10_000));
            }
            // the write of the last record stopped after `cut` bytes
            try (FileChannel channel = FileChannel.open(onlySegment(), StandardOpenOption.WRITE)) {
                channel.truncate(tail + cut);
            }
            forgetIndex();
            try (SegmentStore store = open()) {
                assertThat(status(store, torn)).isEqualTo(ChunkStatus.NOT_FOUND);
                assertHolds(store, chunks);
                chunks.putAll(fill(store, 5, 8_000));
                assertHolds(store, chunks);
            }
            try (SegmentStore store = open()) {
                assertHolds(store, chunks);
            }
            for (Path segment : segments()) {
                Files.delete(segment);
            }
        }
    }

    private static ChunkKey lastKey(Map<ChunkKey, byte[]> chunks) {
        return new ArrayList<>(chunks.keySet()).getLast();
    }

    @Test
    void tailWhoseBytesNeverReachedTheDiskIsCut() throws IOException {
        Map<ChunkKey, byte[]> chunks;
        ChunkKey torn = key();
        ChunkLocation location;
        try (SegmentStore store = open()) {
            chunks = fill(store, 10, 8_000);
            put(store, torn, null, bytes(20_000));
            location = store.location(torn);
        }
        overwrite(onlySegment(), location.offset() + 10_000L, new byte[4096]);
        forgetIndex();
        try (SegmentStore store = open()) {
            assertThat(status(store, torn)).isEqualTo(ChunkStatus.NOT_FOUND);
            assertHolds(store, chunks);
        }
    }

    /** As after a crash before its first checkpoint, which knew nothing of what was written. */
    private void forgetIndex() throws IOException {
        Folders.delete(folder.resolve(SegmentStore.INDEX));
    }

    private static long block(long offset) {
        return offset / SegmentFile.BLOCK_BYTES * SegmentFile.BLOCK_BYTES;
    }

    /** Chunks of which header or bytes are in that block. */
    private static List<ChunkKey> inBlock(SegmentStore store, long block) {
        List<ChunkKey> in = new ArrayList<>();
        store.list(null, Integer.MAX_VALUE)
                .forEach(entry -> {
                    ChunkLocation at = entry.getValue();
                    if (at.offset() < block + SegmentFile.BLOCK_BYTES
                            && at.offset() + at.recordBytes() > block) {
                        in.add(entry.getKey());
                    }
                });
        return in;
    }

    /** Zeros where a header was look like the end of what was written. */
    @Test
    void aLostBlockCostsOnlyTheChunksInIt() throws IOException {
        for (boolean checkpoint : new boolean[] {true, false}) {
            Map<ChunkKey, byte[]> chunks;
            List<ChunkKey> hit;
            long block;
            try (SegmentStore store = open()) {
                chunks = fill(store, 30, 30_000);
                ChunkKey key = new ArrayList<>(chunks.keySet()).get(10);
                block = block(Objects.requireNonNull(store.location(key)).offset());
                hit = inBlock(store, block);
            }
            overwrite(onlySegment(), block, new byte[SegmentFile.BLOCK_BYTES]);
            if (!checkpoint) {
                forgetIndex();
            }
            Map<ChunkKey, byte[]> left = new LinkedHashMap<>(chunks);
            left.keySet().removeAll(hit);
            try (SegmentStore store = open()) {
                long lost = hit.stream().filter(key -> store.location(key) == null).count();
                assertThat(lost).isPositive();
                for (Map.Entry<ChunkKey, byte[]> chunk : left.entrySet()) {
                    assertThat(get(store, chunk.getKey(), 0, chunk.getValue().length))
                            .isEqualTo(chunk.getValue());
                }
                assertThat(store.count()).isEqualTo(chunks.size() - lost);
                assertThat(store.corrupt()).hasSize((int) (hit.size() - lost));
                assertThat(store.files().garbageBytes()).as("damage").isPositive();
                for (ChunkKey key : hit) {
                    assertThat(put(store, key, null, chunks.get(key))).isEqualTo(ChunkStatus.OK);
                }
                assertThat(store.corrupt()).isEmpty();
                assertHolds(store, chunks);
            }
            try (SegmentStore store = open()) {
                assertHolds(store, chunks);
                store.delete(List.copyOf(chunks.keySet()));
            }
            Files.delete(onlySegment());
            forgetIndex();
        }
    }

    /** What a crash left out is given back; it is no damage that keeps a segment for good. */
    @Test
    void aGapThatACrashLeftIsGarbage() throws IOException {
        ChunkLocation first;
        try (SegmentStore store = open()) {
            ChunkKey key = key();
            put(store, key, null, bytes(200_000));
            first = Objects.requireNonNull(store.location(key));
            fill(store, 2, 10_000);
        }
        overwrite(onlySegment(), first.offset(), new byte[first.recordBytes()]);
        forgetIndex();
        try (SegmentStore store = open()) {
            assertThat(store.count()).isEqualTo(2);
            SegmentFile segment = store.files().all().getFirst();
            assertThat(segment.garbageBytes()).isEqualTo(first.recordBytes());
            assertThat(segment.isWasteful()).isTrue();
        }
        try (SegmentStore store = open()) {
            assertThat(store.count()).isEqualTo(2);
            assertThat(store.files().garbageBytes()).as("a hole").isLessThan(10_000);
        }
    }

    /** It looks like a write that a crash cut short, but for what the index says. */
    @Test
    void aLastChunkThatRottedIsReportedAndCanBeReplaced() throws IOException {
        Map<ChunkKey, byte[]> chunks;
        ChunkLocation last;
        try (SegmentStore store = open()) {
            chunks = fill(store, 6, 30_000);
            last = Objects.requireNonNull(store.location(lastKey(chunks)));
        }
        overwrite(onlySegment(), last.offset() + last.recordBytes() / 2, bytes(10));
        try (SegmentStore store = open()) {
            assertThat(store.corrupt()).containsExactly(lastKey(chunks));
            assertThat(status(store, lastKey(chunks))).isEqualTo(ChunkStatus.CORRUPT);
            assertThat(put(store, lastKey(chunks), null, chunks.get(lastKey(chunks))))
                    .isEqualTo(ChunkStatus.OK);
            assertHolds(store, chunks);
        }
        try (SegmentStore store = open()) {
            assertHolds(store, chunks);
        }
    }

    @Test
    void aLastHeaderThatIsLostIsDamage() throws IOException {
        for (byte[] lost : List.of(new byte[ChunkRecord.FIXED_BYTES], bytes(10))) {
            Map<ChunkKey, byte[]> chunks;
            ChunkLocation last;
            try (SegmentStore store = open()) {
                chunks = fill(store, 6, 30_000);
                last = Objects.requireNonNull(store.location(lastKey(chunks)));
            }
            overwrite(onlySegment(), last.offset(), lost);
            try (SegmentStore store = open()) {
                assertThat(status(store, lastKey(chunks))).isEqualTo(ChunkStatus.NOT_FOUND);
                assertThat(store.files().garbageBytes()).isEqualTo(last.recordBytes());
                assertThat(put(store, lastKey(chunks), null, chunks.get(lastKey(chunks))))
                        .isEqualTo(ChunkStatus.OK);
                assertHolds(store, chunks);
            }
            Files.delete(onlySegment());
            forgetIndex();
        }
    }

    private static void overwrite(Path file, long offset, byte[] bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(bytes), offset);
        }
    }

    @Test
    void corruptBytesAreReportedNeverServedAndCanBeReplaced() throws IOException {
        try (SegmentStore store = open()) {
            ChunkKey key = key();
            byte[] data = bytes(200_000);
            put(store, key, null, data);
            ChunkLocation location = store.location(key);
            overwrite(onlySegment(), location.offset() + 100_000L, new byte[] {1, 2, 3, 4, 5});
            // the page of 64 KiB that is damaged, and only that
            assertThat(get(store, key, 0, 65_536)).isEqualTo(Arrays.copyOf(data, 65_536));
            ByteBuffer into = ByteBuffer.allocateDirect(SegmentStore.readRoom(data.length));
            assertThat(store.read(key, 0, data.length, into)).isEqualTo(ChunkStatus.CORRUPT);
            assertThat(store.has(key)).isFalse();
            assertThat(store.statistics().corruptChunks()).isEqualTo(1);
            put(store, key, null, data);
            assertThat(get(store, key, 0, data.length)).isEqualTo(data);
            assertThat(store.statistics().corruptChunks()).isZero();
        }
    }

    @Test
    void damagedHeadersCostOnlyTheirOwnChunks() throws IOException {
        Map<ChunkKey, byte[]> chunks;
        ChunkKey hit;
        try (SegmentStore store = open()) {
            chunks = fill(store, 200, 60_000);
            hit = new ArrayList<>(chunks.keySet()).get(17);
            ChunkLocation location = store.location(hit);
            overwrite(
                    folder.resolve(SegmentFile.fileName(location.segment().number())),
                    location.offset() + 20L,
                    new byte[] {9, 9, 9});
            overwrite(segments().getFirst(), 3, new byte[] {9}); // and the file's own header
        }
        try (SegmentStore store = open()) {
            assertThat(status(store, hit)).isEqualTo(ChunkStatus.NOT_FOUND);
            chunks.remove(hit);
            assertHolds(store, chunks);
        }
    }

    @Test
    void puttingTheSameChunkAgainWritesNothing() throws IOException {
        try (SegmentStore store = open()) {
            ChunkKey key = key();
            byte[] data = bytes(5_000);
            put(store, key, null, data);
            long used = store.statistics().usedBytes();
            assertThat(put(store, key, null, data)).isEqualTo(ChunkStatus.OK);
            assertThat(store.statistics().usedBytes()).isEqualTo(used);
        }
    }

    @Test
    void lateWritesOfADeletedBlockAreRefused() throws IOException {
        try (SegmentStore store = open()) {
            ChunkKey key = new ChunkKey(1, 2, 3);
            put(store, key, null, bytes(100));
            store.deleteBlocks(List.of(new ChunkKey(1, 2, 0)));
            assertThat(put(store, key, null, bytes(100))).isEqualTo(ChunkStatus.DELETED);
            assertThat(status(store, key)).isEqualTo(ChunkStatus.NOT_FOUND);
        }
    }

    @Test
    void fullStoreRefusesAndTakesDeletes() throws IOException {
        try (SegmentStore store = open(2 << 20)) {
            List<ChunkKey> keys = new ArrayList<>();
            ChunkStatus status = ChunkStatus.OK;
            while (status == ChunkStatus.OK) {
                ChunkKey key = key();
                status = put(store, key, null, bytes(100_000));
                if (status == ChunkStatus.OK) {
                    keys.add(key);
                }
            }
            assertThat(status).isEqualTo(ChunkStatus.NO_SPACE);
            assertThat(keys.size()).isBetween(15, 21);
            store.delete(keys.subList(0, 10));
            assertThat(put(store, key(), null, bytes(100_000))).isEqualTo(ChunkStatus.OK);
        }
    }

    /** It takes the place of the damaged one, which goes. */
    @Test
    void aDamagedChunkIsWrittenAgainInAFullStore() throws IOException {
        try (SegmentStore store = open(2 << 20)) {
            Map<ChunkKey, byte[]> chunks = new LinkedHashMap<>();
            ChunkKey key = key();
            byte[] data = bytes(100_000);
            while (put(store, key, null, data) == ChunkStatus.OK) {
                chunks.put(key, data);
                key = key();
                data = bytes(100_000);
            }
            ChunkKey damaged = lastKey(chunks);
            ChunkLocation location = store.location(damaged);
            overwrite(location.segment().path(), location.offset() + 50_000L, new byte[] {1, 2, 3});
            ByteBuffer into = ByteBuffer.allocateDirect(SegmentStore.readRoom(100_000));
            assertThat(store.read(damaged, 0, 100_000, into)).isEqualTo(ChunkStatus.CORRUPT);
            assertThat(put(store, key, null, data)).isEqualTo(ChunkStatus.NO_SPACE);
            assertThat(put(store, damaged, null, chunks.get(damaged))).isEqualTo(ChunkStatus.OK);
            assertHolds(store, chunks);
            assertThat(put(store, key, null, data)).isEqualTo(ChunkStatus.NO_SPACE);
        }
    }

    @Test
    void spaceReservedForOthersIsNotTaken() throws IOException {
        try (SegmentStore store =
                SegmentStore.open(
                        folder,
                        new SegmentStore.Options(
                                "c",
                                "n",
                                Long.MAX_VALUE,
                                Long.MAX_VALUE / 2,
                                SEGMENT_BYTES,
                                true))) {
            assertThat(put(store, key(), null, bytes(100))).isEqualTo(ChunkStatus.NO_SPACE);
            assertThat(store.statistics().capacityBytes()).isZero();
        }
        assertThat(segments()).isEmpty();
    }

    @Test
    void fillsTheDiskToTheReserveAndNoFurther() throws IOException {
        long reserve = 3 << 20;
        AtomicLong sizeBytes = new AtomicLong(12 << 20);
        Disk disk = diskOf(sizeBytes);
        try (SegmentStore store =
                SegmentStore.open(
                        folder,
                        new SegmentStore.Options(
                                "c", "n", Long.MAX_VALUE, reserve, SEGMENT_BYTES, true),
                        disk,
                        FaultPoints.NONE)) {
            List<ChunkKey> keys = new ArrayList<>();
            ChunkKey key = key();
            while (put(store, key, null, bytes(100_000)) == ChunkStatus.OK) {
                keys.add(key);
                key = key();
            }
            assertThat(disk.freeBytes()).isBetween(reserve, reserve + 110_000);
            assertThat(store.statistics().capacityBytes()).isBetween(9_000_000L, 9L << 20);
            assertThat(put(store, key(), null, bytes(100_000))).isEqualTo(ChunkStatus.NO_SPACE);
            for (ChunkKey each : keys) {
                assertThat(status(store, each)).isEqualTo(ChunkStatus.OK);
            }
            sizeBytes.addAndGet(200_000);
            assertThat(put(store, key(), null, bytes(100_000))).isEqualTo(ChunkStatus.OK);
        }
    }

    /** As if nothing else were on a disk of that size. */
    private Disk diskOf(AtomicLong sizeBytes) {
        return new Disk() {
            @Override
            public long freeBytes() throws IOException {
                long taken = 0;
                for (Path segment : segments()) {
                    taken += Files.size(segment);
                }
                return sizeBytes.get() - taken;
            }

            @Override
            public long sizeBytes() {
                return sizeBytes.get();
            }
        };
    }

    @Test
    void concurrentPutsReadsAndDeletes() throws Exception {
        try (SegmentStore store = open();
                var threads = Executors.newFixedThreadPool(8)) {
            List<Future<?>> done = new ArrayList<>();
            for (int t = 0; t < 8; t++) {
                long seed = 55L + t;
                done.add(threads.submit(() -> hammer(store, new Random(seed))));
            }
            for (Future<?> future : done) {
                future.get();
            }
        }
        open().close();
    }

    private static Void hammer(SegmentStore store, Random own) throws IOException {
        Map<ChunkKey, byte[]> mine = new LinkedHashMap<>();
        for (int i = 0; i < 200; i++) {
            ChunkKey key = new ChunkKey(own.nextLong(), own.nextLong(), own.nextInt(6));
            byte[] data = new byte[1 + own.nextInt(60_000)];
            own.nextBytes(data);
            assertThat(put(store, key, null, data)).isEqualTo(ChunkStatus.OK);
            mine.put(key, data);
            List<ChunkKey> keys = new ArrayList<>(mine.keySet());
            ChunkKey look = keys.get(own.nextInt(keys.size()));
            assertThat(get(store, look, 0, mine.get(look).length)).isEqualTo(mine.get(look));
            if (own.nextInt(2) == 0) {
                ChunkKey gone = keys.get(own.nextInt(keys.size()));
                assertThat(store.delete(List.of(gone))).isEqualTo(1);
                mine.remove(gone);
            }
        }
        return null;
    }

    @Test
    void anotherNodesSegmentIsRefused() throws IOException {
        open().close();
        try (SegmentStore store = open()) {
            put(store, key(), null, bytes(10));
        }
        assertThatThrownBy(() ->
                        SegmentStore.open(
                                folder,
                                new SegmentStore.Options(
                                        "c2", "n", 1 << 30, 0, SEGMENT_BYTES, true)))
                .hasMessageContaining("belongs to node n of cluster c");
    }

    @Test
    void aHundredThousandChunksOpenFast() throws IOException {
        try (SegmentStore store =
                SegmentStore.open(
                        folder,
                        new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 64 << 20, true))) {
            ByteBuffer data = ByteBuffer.allocateDirect(1000);
            long ticket = 0;
            for (int i = 0; i < 100_000; i++) {
                ticket = store.put(new ChunkKey(i, 1, 0), SHAPE, null, data.duplicate()).ticket();
            }
            store.sync(ticket);
        }
        long start = System.nanoTime();
        try (SegmentStore store =
                SegmentStore.open(
                        folder,
                        new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 64 << 20, true))) {
            assertThat(store.statistics().chunks()).isEqualTo(100_000);
        }
        assertThat((System.nanoTime() - start) / 1_000_000_000.0).isLessThan(10);
    }

    /** A segment written by format version 1 stays readable, and is written the same way. */
    @Test
    void goldenSegment() throws IOException {
        byte[] golden;
        try (InputStream in = getClass().getResourceAsStream("/chunk-segment-v1.hex")) {
            String hex = new String(in.readAllBytes(), java.nio.charset.StandardCharsets.US_ASCII);
            golden = HexFormat.of().parseHex(hex.replaceAll("#[^\n]*\n|\\s", ""));
        }
        ByteBuffer written = ByteBuffer.allocate(golden.length);
        SegmentHeader.open(1, "quickstart", "us-west-a-1").write(written);
        written.position(1024);
        byte[] content = new byte[100];
        for (int i = 0; i < content.length; i++) {
            content[i] = (byte) i;
        }
        ByteBuffer data = ByteBuffer.wrap(content);
        new ChunkRecord(
                        true,
                        new ChunkKey(0x0123456789abcdefL, 0xfedcba9876543210L, 5),
                        new ChunkShape(400, 1, 4, 2, 3),
                        "us-west-b-2",
                        1_790_000_000_000L,
                        100,
                        ChunkRecord.recordBytes(11, 100),
                        1,
                        4096,
                        ChunkPages.checksums(data))
                .write(written);
        written.put(content);
        written.position(1024 + ChunkRecord.recordBytes(11, 100));
        ChunkRecord.dead(640, 1, 4288).write(written);
        assertThat(HexFormat.of().formatHex(written.array()))
                .isEqualTo(HexFormat.of().formatHex(golden));

        Path file = folder.resolve(SegmentFile.fileName(1));
        byte[] image = new byte[4096 + 192 + 640];
        System.arraycopy(golden, 0, image, 0, 1024);
        System.arraycopy(golden, 1024, image, 4096, golden.length - 1024);
        Files.write(file, image);
        try (SegmentStore store =
                SegmentStore.open(
                        folder,
                        new SegmentStore.Options(
                                "quickstart", "us-west-a-1", 1 << 30, 0, SEGMENT_BYTES, true))) {
            ChunkKey key = new ChunkKey(0x0123456789abcdefL, 0xfedcba9876543210L, 5);
            assertThat(get(store, key, 0, 100)).isEqualTo(content);
            assertThat(store.location(key).home()).isEqualTo("us-west-b-2");
        }
    }

    @Test
    void newerFormatIsRefused() throws IOException {
        try (SegmentStore store = open()) {
            put(store, key(), null, bytes(10));
        }
        ByteBuffer header = ByteBuffer.allocate(SegmentFile.HEADER_BYTES);
        SegmentHeader.open(1, "c", "n").write(header);
        header.putInt(8, 2);
        java.util.zip.CRC32C crc = new java.util.zip.CRC32C();
        crc.update(header.slice(0, 12));
        crc.update(header.slice(16, 1024 - 16));
        header.putInt(12, (int) crc.getValue());
        overwrite(onlySegment(), 0, header.array());
        assertThatThrownBy(this::open)
                .hasMessageContaining("segment format 2, this program reads 1");
    }

    private SegmentStore open(BadSectors bad) throws IOException {
        SegmentStore.Options options =
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, SEGMENT_BYTES, true);
        return SegmentStore.open(folder, options, Disk.of(folder), bad);
    }

    @Test
    void whatTheDiskDoesNotGiveIsDamagedUntilItIsWrittenAgain() throws IOException {
        BadSectors bad = new BadSectors();
        try (SegmentStore store = open(bad)) {
            Map<ChunkKey, byte[]> chunks = fill(store, 4, 50_000);
            List<ChunkKey> keys = List.copyOf(chunks.keySet());
            ChunkKey read = keys.get(1);
            ChunkKey handedOn = keys.get(2);
            for (ChunkKey key : List.of(read, handedOn)) {
                bad.add(onlySegment(), Objects.requireNonNull(store.location(key)).offset());
            }
            assertThat(status(store, read)).isEqualTo(ChunkStatus.CORRUPT);
            assertThat(store.header(handedOn)).isNull();
            assertThat(store.corrupt()).containsExactlyInAnyOrder(read, handedOn);
            assertThat(store.has(read)).isFalse();
            assertThat(store.keeps(handedOn)).isFalse();
            for (ChunkKey key : List.of(read, handedOn)) {
                assertThat(put(store, key, null, chunks.get(key))).isEqualTo(ChunkStatus.OK);
            }
            assertThat(store.corrupt()).isEmpty();
            assertHolds(store, chunks);
        }
    }

    /**
     * To write a part of a page the kernel reads it first, so it cannot say there that it is dead.
     */
    @Test
    void whatTheDiskCannotReadIsDeletedOrMendedAndTheRestGoesOn() throws IOException {
        BadSectors bad = new BadSectors();
        try (SegmentStore store = open(bad)) {
            Map<ChunkKey, byte[]> chunks = fill(store, 4, 50_000);
            List<ChunkKey> keys = List.copyOf(chunks.keySet());
            ChunkKey mended = keys.get(0);
            ChunkKey deleted = keys.get(2);
            for (ChunkKey key : List.of(mended, deleted)) {
                bad.addUnwritable(
                        onlySegment(), Objects.requireNonNull(store.location(key)).offset());
            }
            assertThat(status(store, mended)).isEqualTo(ChunkStatus.CORRUPT);
            assertThat(put(store, mended, null, chunks.get(mended))).isEqualTo(ChunkStatus.OK);
            assertThatThrownBy(() -> store.delete(List.of(deleted)))
                    .hasMessageContaining("Input/output");
            assertThat(store.delete(List.of(deleted))).as("it is known to be damaged").isEqualTo(1);
            chunks.remove(deleted);
            ChunkKey later = keys.get(3);
            assertThat(store.delete(List.of(later))).isEqualTo(1);
            chunks.remove(later);
            assertHolds(store, chunks);
        }
    }

    private Map<ChunkKey, byte[]> filled() throws IOException {
        try (SegmentStore store = open()) {
            return fill(store, 6, 50_000);
        }
    }

    private Map<ChunkKey, ChunkLocation> locations(Map<ChunkKey, byte[]> chunks)
            throws IOException {
        Map<ChunkKey, ChunkLocation> found = new HashMap<>();
        try (SegmentStore store = open()) {
            chunks.keySet().forEach(key -> found.put(key, store.location(key)));
        }
        return found;
    }

    /** Its start looks through the segment that it wrote to last. */
    @Test
    void aStartGoesOnWhereTheDiskCannotReadARecordsHeader() throws IOException {
        Map<ChunkKey, byte[]> chunks = filled();
        Map<ChunkKey, ChunkLocation> at = locations(chunks);
        for (ChunkKey unread : chunks.keySet()) {
            BadSectors bad = new BadSectors();
            bad.addSector(onlySegment(), at.get(unread).offset());
            List<ChunkKey> lost;
            try (SegmentStore store = copied(bad)) {
                assertThat(store.lookedThrough()).isEqualTo(1);
                lost = chunks.keySet().stream().filter(key -> !store.has(key)).toList();
                assertThat(lost).as("and those in the same block").contains(unread);
                assertThat(lost.size()).isLessThanOrEqualTo(2);
                for (ChunkKey key : lost) {
                    assertThat(put(store, key, null, chunks.get(key))).isEqualTo(ChunkStatus.OK);
                }
                assertHolds(store, chunks);
            }
            try (SegmentStore store = reopened(bad)) {
                assertHolds(store, chunks);
            }
        }
    }

    private Path copy() {
        return folder.resolve("copy");
    }

    /** A copy of the store, on such a disk. */
    private SegmentStore copied(BadSectors bad) throws IOException {
        Folders.delete(copy());
        Files.createDirectories(copy());
        Files.copy(onlySegment(), copy().resolve(onlySegment().getFileName()));
        return reopened(bad);
    }

    private SegmentStore reopened(FaultPoints bad) throws IOException {
        return SegmentStore.open(
                copy(),
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, SEGMENT_BYTES, true),
                Disk.of(copy()),
                bad);
    }

    @Test
    void aStartGoesOnWhereTheDiskCannotReadAChunksBytes() throws IOException {
        Map<ChunkKey, byte[]> chunks = filled();
        Map<ChunkKey, ChunkLocation> at = locations(chunks);
        ChunkKey unread = List.copyOf(chunks.keySet()).get(3);
        BadSectors bad = new BadSectors();
        bad.addSector(onlySegment(), at.get(unread).offset() + at.get(unread).recordBytes() / 2);
        try (SegmentStore store = copied(bad)) {
            assertThat(store.has(unread)).isFalse();
            assertThat(put(store, unread, null, chunks.get(unread))).isEqualTo(ChunkStatus.OK);
            assertHolds(store, chunks);
        }
    }

    @Test
    void aStartGoesOnWhereTheDiskCannotReadASegmentsHeader() throws IOException {
        Map<ChunkKey, byte[]> chunks = filled();
        BadSectors bad = new BadSectors();
        bad.addSector(onlySegment(), 0);
        try (SegmentStore store = copied(bad)) {
            assertHolds(store, chunks);
        }
        try (SegmentStore store = reopened(FaultPoints.NONE)) {
            assertHolds(store, chunks);
        }
    }

    /** Else what a cable does would look like garbage, and be given back. */
    @Test
    void aDiskThatReadsNothingIsRefusedAndNothingIsLost() throws IOException {
        Map<ChunkKey, byte[]> chunks = new HashMap<>();
        try (SegmentStore store = open()) {
            while (store.liveBytes() < 2 << 20) {
                chunks.putAll(fill(store, 6, 50_000));
            }
        }
        FaultPoints dead =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void scanning(Path path, long from, int bytes) throws IOException {
                        throw new IOException("Input/output error");
                    }
                };
        Files.createDirectories(copy());
        Files.copy(onlySegment(), copy().resolve(onlySegment().getFileName()));
        assertThatThrownBy(() -> reopened(dead)).hasMessageContaining("look at the disk");
        assertThat(copy().resolve(onlySegment().getFileName()))
                .hasSameBinaryContentAs(onlySegment());
        try (SegmentStore store = reopened(FaultPoints.NONE)) {
            assertHolds(store, chunks);
        }
    }

    /** It would count as damaged for ever. */
    @Test
    void aChunkThatIsDeletedWhileItIsFoundDamagedIsNotCounted() throws Exception {
        AtomicReference<SegmentStore> opened = new AtomicReference<>();
        AtomicReference<Thread> deletes = new AtomicReference<>();
        BadSectors bad = new BadSectors();
        FaultPoints faults =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void reading(Path path, long offset) throws IOException {
                        bad.reading(path, offset);
                    }

                    @Override
                    public void noting(ChunkKey key) {
                        Thread thread = Thread.startVirtualThread(() -> discard(opened, key));
                        deletes.set(thread);
                        await().until(() ->
                                thread.getState() == Thread.State.WAITING
                                        || thread.getState() == Thread.State.TERMINATED);
                    }
                };
        SegmentStore.Options options =
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, SEGMENT_BYTES, true);
        try (SegmentStore store = SegmentStore.open(folder, options, Disk.of(folder), faults)) {
            opened.set(store);
            ChunkKey key = key();
            assertThat(put(store, key, null, bytes(1_000))).isEqualTo(ChunkStatus.OK);
            ChunkLocation location = Objects.requireNonNull(store.location(key));
            bad.add(location.segment().path(), location.offset());
            assertThat(status(store, key)).isEqualTo(ChunkStatus.CORRUPT);
            deletes.get().join();
            assertThat(status(store, key)).isEqualTo(ChunkStatus.NOT_FOUND);
            assertThat(store.corrupt()).isEmpty();
        }
    }

    private static void discard(AtomicReference<SegmentStore> store, ChunkKey key) {
        try {
            store.get().discard(List.of(key));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
