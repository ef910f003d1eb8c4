package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.globalfs.datastore.node.CrashImages.Crash;
import org.globalfs.datastore.node.FaultPoints.Step;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Disk;
import org.globalfs.protocol.Folders;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A store is stopped at every step of what it does, on a real disk, and opened again. */
@Timeout(300)
class SegmentCrashTest {
    private static final DirectAppends CACHED = new DirectAppends(new DirectFiles(false));
    private static final Set<Step> STEPS_OF_A_STORE =
            Set.of(
                    Step.SEGMENT_BORN,
                    Step.SEGMENT_CREATED,
                    Step.SEGMENT_CUT,
                    Step.SEGMENT_SEALED,
                    Step.SEGMENT_REMOVED,
                    Step.RECORD_BEGUN,
                    Step.RECORD_WRITTEN,
                    Step.RECORD_ENTERED,
                    Step.RECORD_DEAD,
                    Step.SYNCED,
                    Step.HOLE_PUNCHED,
                    Step.COPY_ENTERED,
                    Step.COPIES_SYNCED,
                    Step.ORIGINALS_DEAD,
                    Step.SEGMENT_STAMPED,
                    Step.CHECKPOINT);

    /** Every so many images are also emptied, to see what stays. */
    private static final int EMPTIED = 5;

    /** Every so many crash a second time. */
    private static final int CRASHED_AGAIN = 4;

    @TempDir Path folder;
    private SegmentStore.Options options = ofSegments(192 << 10);
    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private final AckedChunks chunks = new AckedChunks();
    private int images;

    private static SegmentStore.Options ofSegments(int bytes) {
        return new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, bytes, true);
    }

    private Map<ChunkKey, byte[]> some(int count, int mostBytes) {
        Map<ChunkKey, byte[]> some = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            byte[] bytes = new byte[1 + random.nextInt(mostBytes)];
            random.nextBytes(bytes);
            some.put(new ChunkKey(random.nextLong(), random.nextLong(), random.nextInt(6)), bytes);
        }
        return some;
    }

    private List<ChunkKey> someOf(List<ChunkKey> keys, int oneIn) {
        return keys.stream().filter(key -> random.nextInt(oneIn) == 0).toList();
    }

    @Test
    void whateverWasAcknowledgedHoldsAtEveryStep() throws IOException {
        Path data = Files.createDirectory(folder.resolve("data"));
        CrashImages disk = new CrashImages(data, random);
        try (SegmentStore store = SegmentStore.open(data, options, Disk.of(data), disk);
                Compaction compaction = new Compaction(store, "n")) {
            disk.watch(step -> {
                crashAt(disk, step);
                if (step == Step.COPIES_SYNCED && random.nextInt(3) == 0) {
                    store.checkpoint();
                }
                if (step == Step.COPIES_SYNCED && random.nextBoolean()) {
                    // Two records of some of these are there.
                    chunks.delete(store, someOf(chunks.live(), 4));
                }
            });
            for (int round = 0; round < 3; round++) {
                chunks.put(store, some(3, 40_000));
                chunks.put(store, some(8, 6_000));
                chunks.put(store, some(1, 120_000));
                store.checkpoint();
                writeDamagedAnew(store, data);
                chunks.delete(store, someOf(chunks.live(), 3));
                if (random.nextBoolean()) {
                    store.checkpoint();
                }
                compaction.compact();
                chunks.check(store);
            }
            leaveAHole(store);
            chunks.delete(store, chunks.live());
            compaction.compact();
        }
        assertThat(disk.seen()).containsAll(STEPS_OF_A_STORE);
    }

    /** Chance deletes no chunk as long as that in one of some dozen runs. */
    private void leaveAHole(SegmentStore store) throws IOException {
        byte[] bytes = new byte[150_000];
        random.nextBytes(bytes);
        ChunkKey key = new ChunkKey(1, 2, 3);
        chunks.put(store, Map.of(key, bytes));
        chunks.put(store, some(1, 6_000));
        chunks.delete(store, List.of(key));
    }

    /** They go past the page cache, beside small ones that do not. */
    @Test
    void whateverWasAcknowledgedHoldsBesideLargeChunks() throws IOException {
        options = ofSegments(1_000 << 10);
        Path data = Files.createDirectory(folder.resolve("data"));
        CrashImages disk = new CrashImages(data, random);
        try (SegmentStore store = SegmentStore.open(data, options, Disk.of(data), disk);
                Compaction compaction = new Compaction(store, "n")) {
            disk.watch(step -> crashAt(disk, step));
            chunks.put(store, some(2, 6_000));
            chunks.put(store, large(2));
            chunks.put(store, some(1, 6_000));
            chunks.put(store, large(1));
            writeDamagedAnew(store, data);
            chunks.put(store, some(1, 70_000));
            chunks.delete(store, someOf(chunks.live(), 3));
            chunks.put(store, large(1));
            compaction.compact();
            chunks.check(store);
        }
    }

    private Map<ChunkKey, byte[]> large(int count) {
        Map<ChunkKey, byte[]> large = new LinkedHashMap<>();
        some(count, 200_000)
                .forEach((key, bytes) -> {
                    byte[] longer = new byte[262_000 + bytes.length];
                    random.nextBytes(longer);
                    large.put(key, longer);
                });
        return large;
    }

    private void writeDamagedAnew(SegmentStore store, Path data) throws IOException {
        ChunkKey key = chunks.live().getLast();
        byte[] bytes = chunks.bytes(key);
        ChunkLocation location = store.location(key);
        chunks.damage(key);
        Path file = data.resolve(location.segment().path().getFileName());
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            long middle = (long) location.offset() + location.recordBytes() / 2;
            channel.write(ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5}), middle);
        }
        ByteBuffer into = ByteBuffer.allocateDirect(SegmentStore.readRoom(bytes.length));
        assertThat(store.read(key, 0, bytes.length, into)).isEqualTo(ChunkStatus.CORRUPT);
        chunks.put(store, Map.of(key, bytes));
    }

    private void crashAt(CrashImages disk, Step step) throws IOException {
        for (Crash crash : Crash.values()) {
            Path image = disk.write(folder.resolve("image"), crash);
            images++;
            try {
                reopen(image, CrashImages.after(crash, disk, image));
            } catch (AssertionError | IOException e) {
                throw new AssertionError(
                        crash + " at " + step + ", image " + images + ", seed " + seed, e);
            }
        }
    }

    private void reopen(Path image, CrashImages disk) throws IOException {
        AckedChunks expected = chunks.copy();
        Map<ChunkKey, ChunkLocation> listed;
        try (SegmentStore store = SegmentStore.open(image, options, Disk.of(image), disk)) {
            expected.check(store);
            if (images % CRASHED_AGAIN == 0) {
                expected.delete(store, someOf(expected.live(), 2));
                crashAgain(expected, disk);
            }
            expected.putUnclear(store);
            assertAccountsForEveryByte(store, image);
            listed = list(store);
        }
        try (SegmentStore store = SegmentStore.open(image, options);
                Compaction compaction = new Compaction(store, "n")) {
            assertSame(list(store), listed);
            if (images % EMPTIED != 0) {
                return;
            }
            compaction.compact();
            expected.check(store);
            // Without an index, a damaged one at the end looks like a write that a crash cut short.
            Map<ChunkKey, ChunkLocation> found = rebuilt(image);
            found.keySet().removeAll(store.corrupt());
            Map<ChunkKey, ChunkLocation> whole = list(store);
            whole.keySet().removeAll(store.corrupt());
            assertSame(found, whole);
            expected.delete(store, expected.live());
            store.delete(new ArrayList<>(list(store).keySet()));
            compaction.compact();
            assertThat(store.statistics().usedBytes())
                    .as("what an empty store takes")
                    .isLessThan(options.segmentBytes() / 4);
        }
        try (SegmentStore store = SegmentStore.open(image, options)) {
            assertThat(store.count()).isZero();
        }
    }

    /** What a start has put right on disk, or left, must not matter to what comes after. */
    private void crashAgain(AckedChunks expected, CrashImages disk) throws IOException {
        for (Crash crash : Crash.values()) {
            Path again = disk.write(folder.resolve("again"), crash);
            try (SegmentStore store = SegmentStore.open(again, options)) {
                expected.check(store);
            } catch (AssertionError e) {
                throw new AssertionError("then " + crash, e);
            }
        }
    }

    private static Map<ChunkKey, ChunkLocation> list(SegmentStore store) {
        Map<ChunkKey, ChunkLocation> all = new TreeMap<>();
        store.list(null, Integer.MAX_VALUE)
                .forEach(entry -> all.put(entry.getKey(), entry.getValue()));
        return all;
    }

    /** The index that the segments give which a running store has on disk. */
    private Map<ChunkKey, ChunkLocation> rebuilt(Path image) throws IOException {
        Path copy = Files.createDirectories(folder.resolve("copy"));
        for (Path file : segments(image)) {
            Files.copy(file, copy.resolve(file.getFileName()));
        }
        try (SegmentStore store = SegmentStore.open(copy, options)) {
            return list(store);
        } finally {
            Folders.delete(copy);
        }
    }

    private static List<Path> segments(Path image) throws IOException {
        try (Stream<Path> files = Files.list(image)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    private static void assertSame(
            Map<ChunkKey, ChunkLocation> found, Map<ChunkKey, ChunkLocation> expected) {
        assertThat(found.keySet()).isEqualTo(expected.keySet());
        found.forEach((key, location) -> {
            ChunkLocation other = expected.get(key);
            assertThat(location.segment().number()).isEqualTo(other.segment().number());
            assertThat(location.offset()).isEqualTo(other.offset());
            assertThat(location.recordBytes()).isEqualTo(other.recordBytes());
            assertThat(location.shape()).isEqualTo(other.shape());
            assertThat(location.home()).isEqualTo(other.home());
        });
    }

    /** Every byte of every segment belongs to its header, a chunk of the index, or garbage. */
    private static void assertAccountsForEveryByte(SegmentStore store, Path image)
            throws IOException {
        long live = 0;
        for (ChunkLocation location : list(store).values()) {
            live += location.recordBytes();
        }
        long headers = (long) segments(image).size() * SegmentFile.HEADER_BYTES;
        assertThat(store.statistics().usedBytes())
                .isEqualTo(headers + live + store.files().garbageBytes());
    }

    /** A start that met a hole instead of a record's header would take it for damage. */
    @Test
    void aHoleIsPunchedOnlyBehindAHeaderThatIsOnDisk() throws IOException {
        int length = 64 << 10;
        SegmentFile file = SegmentFile.create(folder, 1, "c", "n", FaultPoints.NONE);
        ByteBuffer zeros = ByteBuffer.allocate(length);
        for (int i = 0; i < 4; i++) {
            file.append(zeros.slice(0, 64), zeros.slice(64, length - 64), length, CACHED);
        }
        int first = SegmentFile.HEADER_BYTES;
        file.kill(first, length);
        file.sync();
        file.kill(first + length, length); // becomes one with the first
        assertThat(file.punchAround(first, true)).isZero();
        file.sync();
        assertThat(file.punchAround(first, true)).isGreaterThan(length);
        file.kill(first + 2 * length, length);
        assertThat(file.punchAround(first, false)).isEqualTo(length);
        file.close();
    }

    /** Between a chunk's durable end and the hole in its place the node may have died. */
    @Test
    void spaceThatACrashKeptComesBackAtTheStart() throws IOException {
        try (SegmentStore store = SegmentStore.open(folder, options)) {
            chunks.put(store, some(1, 10));
            byte[] large = new byte[150_000];
            random.nextBytes(large);
            ChunkKey key = new ChunkKey(1, 2, 3);
            chunks.put(store, Map.of(key, large));
            ChunkLocation location = store.location(key);
            location.segment().kill(location.offset(), location.recordBytes());
        }
        Folders.delete(folder.resolve(SegmentStore.INDEX)); // it is of before
        assertThat(diskBytes()).isGreaterThan(150_000);
        try (SegmentStore store = SegmentStore.open(folder, options)) {
            assertThat(store.count()).isEqualTo(1);
            assertThat(diskBytes()).isLessThan(30_000);
            assertThat(store.statistics().usedBytes()).isLessThan(30_000);
        }
    }

    private long diskBytes() throws IOException {
        Process du =
                new ProcessBuilder(
                                "du",
                                "--block-size=1",
                                "-s",
                                "--exclude=" + SegmentStore.INDEX,
                                folder.toString())
                        .start();
        try (BufferedReader out = du.inputReader()) {
            return Long.parseLong(out.readLine().split("\\s+")[0]);
        }
    }

    /**
     * Writes that were not synced can reach the disk in any order: one that did not is not to be
     * taken for a chunk because a later one did.
     */
    @Test
    void aRecordTornBeforeALaterOneIsWrittenAgain() throws IOException {
        List<Map.Entry<ChunkKey, byte[]>> put;
        ChunkLocation torn;
        try (SegmentStore store = SegmentStore.open(folder, options)) {
            chunks.put(store, some(3, 20_000));
            put = new ArrayList<>(some(2, 20_000).entrySet());
            for (Map.Entry<ChunkKey, byte[]> chunk : put) {
                chunks.put(store, Map.of(chunk.getKey(), chunk.getValue()));
            }
            torn = store.location(put.getFirst().getKey());
        }
        try (FileChannel channel =
                FileChannel.open(torn.segment().path(), StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(64), torn.offset() + torn.recordBytes() - 64L - 64L);
        }
        ChunkKey key = put.getFirst().getKey();
        try (SegmentStore store = SegmentStore.open(folder, options)) {
            assertThat(store.has(key)).isFalse();
            chunks.put(store, Map.of(key, put.getFirst().getValue()));
            chunks.check(store);
        }
    }

    /**
     * The part of a header that names the chunk can be the last of its disk block, and the only
     * block of the record that reached the disk.
     */
    @Test
    void aRecordOfWhichOnlyTheHeadersStartIsThereKeepsNoSpace() throws IOException {
        int lost;
        try (SegmentStore store = SegmentStore.open(folder, options)) {
            int fill = SegmentFile.BLOCK_BYTES - 2 * ChunkRecord.FIXED_BYTES;
            chunks.put(store, Map.of(new ChunkKey(1, 1, 0), new byte[fill - 4]));
            byte[] large = new byte[100_000];
            random.nextBytes(large);
            ChunkKey key = new ChunkKey(2, 2, 0);
            store.put(key, AckedChunks.SHAPE, large);
            lost = store.location(key).offset() + ChunkRecord.FIXED_BYTES;
            assertThat(lost % SegmentFile.BLOCK_BYTES).isZero();
            chunks.put(store, some(1, 6_000));
        }
        try (FileChannel channel =
                FileChannel.open(segments(folder).getFirst(), StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(96 << 10), lost);
        }
        Folders.delete(folder.resolve(SegmentStore.INDEX)); // it is of before
        try (SegmentStore store = SegmentStore.open(folder, options);
                Compaction compaction = new Compaction(store, "n")) {
            chunks.check(store);
            chunks.delete(store, chunks.live());
            compaction.compact();
            assertThat(store.statistics().usedBytes()).isLessThan(options.segmentBytes() / 4);
        }
    }
}
