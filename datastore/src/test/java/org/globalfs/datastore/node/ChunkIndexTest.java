package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.NoMoreFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

@Timeout(120)
class ChunkIndexTest {
    private static final ChunkShape SHAPE = new ChunkShape(1000, 1, 4, 2, 7);
    private static final SegmentStore.Options OPTIONS =
            new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 192 << 10, true);

    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir Path folder;
    private final Random random = new Random(4711);
    private final AckedChunks chunks = new AckedChunks();

    private Map<ChunkKey, byte[]> some(int count) {
        Map<ChunkKey, byte[]> some = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            byte[] bytes = new byte[10_000 + random.nextInt(20_000)];
            random.nextBytes(bytes);
            some.put(key(), bytes);
        }
        return some;
    }

    private ChunkKey key() {
        return new ChunkKey(random.nextLong(), random.nextLong(), random.nextInt(40));
    }

    private Path data() {
        return folder.resolve("data");
    }

    private SegmentStore open(Path data) throws IOException {
        Files.createDirectories(data);
        return SegmentStore.open(data, OPTIONS);
    }

    /**
     * What a killed process leaves: of one moment, so again if the index's own threads changed
     * something meanwhile.
     */
    private Path killed() throws IOException {
        Path copy = folder.resolve("copy");
        Map<Path, List<Object>> before;
        do {
            before = all();
            Folders.delete(copy);
            for (Path path : before.keySet()) {
                try {
                    Files.copy(path, copy.resolve(data().relativize(path)));
                } catch (NoSuchFileException e) {
                    break; // before it was copied, so what is there now is different
                }
            }
        } while (before.isEmpty() || !all().equals(before));
        return copy;
    }

    /** Everything in the folder, those that contain others first, with what changes with it. */
    private Map<Path, List<Object>> all() throws IOException {
        Map<Path, List<Object>> found = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(data())) {
            for (Path path : paths.toList()) {
                found.put(path, List.of(Files.size(path), Files.getLastModifiedTime(path)));
            }
        } catch (NoSuchFileException | UncheckedIOException e) {
            return Map.of();
        }
        return found;
    }

    @Test
    void anIndexThatThisProcessMayNotOpenIsNotTakenForDamaged() {
        Path index = Path.of("/x/index");
        String file = "While open a file for random read: /x/index/000008.sst: ";
        assertThat(ChunkIndex.hindrance(index, new RocksDBException(file + "Permission denied")))
                .hasMessageContaining("000008.sst")
                .cause()
                .isInstanceOf(AccessDeniedException.class)
                .hasMessage("/x/index");
        assertThat(ChunkIndex.hindrance(index, new RocksDBException(file + "Too many open files")))
                .hasMessageContaining("cannot open the index /x/index");
        assertThat(ChunkIndex.hindrance(index, new RocksDBException(file + "Input/output error")))
                .isNull();
    }

    @Test
    void aStartLooksOnlyThroughWhatHasChangedSinceTheCheckpoint() throws IOException {
        try (SegmentStore store = open(data())) {
            chunks.put(store, some(60));
            assertThat(store.files().count()).isGreaterThan(5);
        }
        try (SegmentStore store = open(data())) {
            assertThat(store.lookedThrough()).as("the one that takes appends").isEqualTo(1);
            chunks.check(store);
            Path untouched = killed();
            try (SegmentStore copy = open(untouched)) {
                assertThat(copy.lookedThrough()).isEqualTo(1);
                chunks.check(copy);
            }
            chunks.delete(store, List.of(chunks.live().getFirst()));
            chunks.put(store, some(10));
            try (SegmentStore copy = open(killed())) {
                assertThat(copy.lookedThrough()).isBetween(3, 5);
                chunks.check(copy);
                assertThat(copy.statistics().usedBytes()).isEqualTo(store.statistics().usedBytes());
            }
            store.checkpoint();
        }
        try (SegmentStore store = open(data())) {
            assertThat(store.lookedThrough()).isEqualTo(1);
            chunks.check(store);
        }
    }

    @Test
    void aLostIndexIsMadeAnew() throws IOException {
        List<Map.Entry<ChunkKey, ChunkLocation>> before;
        try (SegmentStore store = open(data())) {
            chunks.put(store, some(40));
            chunks.delete(store, chunks.live().subList(3, 9));
            before = store.list(null, 100);
        }
        Folders.delete(data().resolve(SegmentStore.INDEX));
        try (SegmentStore store = open(data())) {
            assertThat(store.lookedThrough()).isEqualTo(store.files().count());
            chunks.check(store);
            assertThat(store.list(null, 100)).hasSameSizeAs(before);
            assertThat(store.chunks()).isEqualTo(before.size());
        }
    }

    @Test
    void anIndexThatCannotBeOpenedIsMadeAnew() throws IOException {
        try (SegmentStore store = open(data())) {
            chunks.put(store, some(20));
        }
        for (Path file : files("MANIFEST")) {
            Files.writeString(file, "damaged");
        }
        try (SegmentStore store = open(data())) {
            chunks.check(store);
        }
    }

    /** An older or newer program's: what it says is in the segments, too. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void anIndexOfAnotherFormatIsMadeAnew(int format) throws Exception {
        try (SegmentStore store = open(data())) {
            chunks.put(store, some(20));
        }
        Path index = data().resolve(SegmentStore.INDEX);
        byte[] row = {'k'};
        try (RocksDB db = RocksDB.open(index.toString())) {
            byte[] checkpoint = db.get(row);
            assertThat(ByteBuffer.wrap(checkpoint).getInt()).isEqualTo(1);
            db.put(row, ByteBuffer.wrap(checkpoint).putInt(0, format).array());
        }
        for (int start = 0; start < 2; start++) {
            try (SegmentStore store = open(data())) {
                boolean anew = store.lookedThrough() == store.files().count();
                assertThat(anew).isEqualTo(start == 0);
                chunks.check(store);
            }
        }
        try (RocksDB db = RocksDB.openReadOnly(index.toString())) {
            assertThat(ByteBuffer.wrap(db.get(row)).getInt()).isEqualTo(1);
        }
    }

    @Test
    void anIndexThatIsFoundDamagedAtTheStartIsMadeAnew() throws IOException {
        try (SegmentStore store = open(data())) {
            chunks.put(store, some(20));
        }
        damageRows(data().resolve(SegmentStore.INDEX));
        try (SegmentStore store = open(data())) {
            chunks.check(store);
            assertThat(store.lookedThrough()).isEqualTo(store.files().count());
        }
    }

    @Test
    void anIndexThatIsFoundDamagedLaterFailsAndIsMadeAnewAtTheNextStart() throws IOException {
        Path index = folder.resolve("index");
        ChunkKey key = new ChunkKey(0, 0, 0);
        try (ChunkIndex rows = ChunkIndex.open(index)) {
            rows.put(key, new ChunkIndex.Row(1, 2, 3, 4, SHAPE, "n2"));
            for (int i = 0; i < 2_000; i++) {
                rows.put(key(), new ChunkIndex.Row(1, 2, 3, 4, SHAPE, "n2"));
            }
            rows.checkpoint(new ChunkIndex.Checkpoint(1, 1));
            rows.awaitWritten(10_000);
        }
        damageRows(index);
        try (ChunkIndex rows = ChunkIndex.open(index)) {
            assertThatThrownBy(() -> rows.get(key)).isInstanceOf(UncheckedIOException.class);
        }
        assertThat(ChunkIndex.isDamaged(index)).isTrue();
        try (ChunkIndex rows = ChunkIndex.open(index)) {
            assertThat(rows.get(key)).isNull();
            assertThat(rows.openedAt()).isEqualTo(ChunkIndex.Checkpoint.NONE);
        }
    }

    @Test
    void aStoreWhoseIndexFailsTakesNoMoreWritesAndLosesNothing() throws IOException {
        try (SegmentStore store = open(data())) {
            chunks.put(store, some(60));
            Folders.delete(data().resolve(SegmentStore.INDEX));
            Files.createSymbolicLink(data().resolve("index.new"), folder.resolve("nowhere"));
            store.checkpoint();
            await().atMost(LIMIT).until(() -> !isTaken(store, key()));
            assertThat(store.statistics().writable()).isFalse();
            assertThat(store.put(key(), SHAPE, new byte[10])).isEqualTo(ChunkStatus.IO_ERROR);
            List<ChunkKey> live = List.of(chunks.live().getFirst());
            assertThatThrownBy(() -> store.delete(live)).isInstanceOf(IOException.class);
            chunks.check(store);
        }
        try (SegmentStore store = open(data())) {
            chunks.check(store);
        }
    }

    @Test
    void aRenewedIndexSaysTheSameAndHasNoCheckpoint() throws IOException {
        Path index = folder.resolve("index");
        ChunkIndex.Row row = new ChunkIndex.Row(1, 2, 3, 4, SHAPE, "n2");
        List<ChunkKey> keys = Stream.generate(this::key).limit(5_000).toList();
        try (ChunkIndex rows = ChunkIndex.open(index)) {
            keys.subList(0, 2_500).forEach(key -> rows.put(key, row));
            rows.checkpoint(new ChunkIndex.Checkpoint(1, 1));
            keys.subList(2_500, 5_000).forEach(key -> rows.put(key, row));
            rows.remove(keys.getFirst());
            rows.summarize(5, new byte[] {1});
            rows.renew(visitor -> fail("it can be read"));
            assertThat(rows.get(keys.getFirst())).isNull();
            assertThat(rows.get(keys.getLast())).isEqualTo(row);
        }
        try (ChunkIndex rows = ChunkIndex.open(index)) {
            assertThat(rows.openedAt()).isEqualTo(ChunkIndex.Checkpoint.NONE);
            assertThat(rows.list(null, 10_000)).hasSize(keys.size() - 1);
            assertThat(rows.summarized()).containsExactly(5);
        }
    }

    /** What keeps an index from writing may pass, and nobody has to start the node again then. */
    @Test
    void aStoreWhoseIndexFailsGoesOnOnceItCanBeWrittenAnew() throws IOException {
        Path index = data().resolve(SegmentStore.INDEX);
        Path inTheWay = data().resolve("index.new");
        ChunkKey refused = key();
        try (SegmentStore store = open(data())) {
            chunks.put(store, some(60));
            store.checkpoint();
            chunks.delete(store, chunks.live().subList(10, 20));
            chunks.put(store, some(20));
            long count = store.chunks();
            Files.move(index, folder.resolve("away"));
            Files.createSymbolicLink(inTheWay, folder.resolve("nowhere"));
            await().atMost(LIMIT).until(() -> !takesCheckpoints(store));
            assertThat(store.put(refused, SHAPE, new byte[10])).isEqualTo(ChunkStatus.IO_ERROR);
            assertThatThrownBy(() -> store.delete(List.of(chunks.live().getFirst())))
                    .isInstanceOf(IOException.class);
            chunks.check(store);
            assertThat(store.has(refused)).isFalse();
            assertThat(store.statistics().writable()).isFalse();
            Files.delete(inTheWay);
            await().atMost(LIMIT)
                    .until(() -> {
                        store.tick();
                        return store.statistics().writable();
                    });
            chunks.check(store);
            assertThat(store.list(null, 1_000)).hasSize((int) count);
            chunks.put(store, some(20));
            chunks.delete(store, chunks.live().subList(5, 9));
            assertThat(store.chunks()).isEqualTo(count + 20 - 4);
            try (SegmentStore copy = open(killed())) {
                chunks.check(copy);
                assertThat(copy.has(refused)).isFalse();
            }
            store.checkpoint();
        }
        assertThat(inTheWay).doesNotExist();
        try (SegmentStore store = open(data())) {
            assertThat(store.lookedThrough()).isEqualTo(1);
            chunks.check(store);
        }
    }

    /** The segments are there, and say the same; meanwhile other nodes have the block's chunks. */
    @Test
    void anIndexThatIsFoundDamagedInUseIsMadeAnew() throws IOException {
        Path index = data().resolve(SegmentStore.INDEX);
        try (SegmentStore store = open(data())) {
            chunks.put(store, some(30));
            chunks.delete(store, chunks.live().subList(0, 5));
            ChunkKey moved = chunks.live().getFirst();
            assertThat(copied(store, moved)).isTrue();
            long tables = tables(index);
            store.checkpoint();
            await().atMost(LIMIT).until(() -> tables(index) > tables);
            chunks.put(store, some(5));
            long count = store.chunks();
            long liveBytes = store.liveBytes();
            int handoffs = store.handoffs().values().stream().mapToInt(Set::size).sum();
            damageRows(index);
            assertThatThrownBy(() -> chunks.check(store)).isInstanceOf(UncheckedIOException.class);
            await().atMost(LIMIT)
                    .until(() -> {
                        store.tick();
                        return store.statistics().writable();
                    });
            chunks.check(store);
            store.endOriginals(List.of(moved));
            chunks.check(store);
            assertThat(store.list(null, 1_000)).hasSize((int) count);
            assertThat(store.chunks()).isEqualTo(count);
            assertThat(store.liveBytes()).isEqualTo(liveBytes);
            assertThat(store.handoffs().values().stream().mapToInt(Set::size).sum())
                    .isEqualTo(handoffs);
            chunks.put(store, some(20));
            chunks.delete(store, chunks.live().subList(5, 9));
            try (SegmentStore copy = open(killed())) {
                chunks.check(copy);
            }
        }
        try (SegmentStore store = open(data())) {
            assertThat(store.lookedThrough()).isEqualTo(1);
            chunks.check(store);
        }
    }

    private static long tables(Path index) throws IOException {
        try (Stream<Path> all = Files.list(index)) {
            return all.filter(path -> path.toString().endsWith(".sst")).count();
        }
    }

    /** As compaction does, which has not ended the original yet. */
    private boolean copied(SegmentStore store, ChunkKey key) throws IOException {
        byte[] bytes = chunks.bytes(key);
        ByteBuffer data = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
        return store.copy(key, store.location(key), store.header(key), data);
    }

    private static boolean takesCheckpoints(SegmentStore store) throws IOException {
        try {
            store.checkpoint();
            return true;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private static boolean isTaken(SegmentStore store, ChunkKey key) {
        try {
            return store.put(key, SHAPE, new byte[10]) == ChunkStatus.OK;
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("index");
            return false;
        }
    }

    @Test
    void rowsComeBackAsTheyWereInTheOrderOfTheirKeys() throws IOException {
        TreeSet<ChunkKey> keys = new TreeSet<>();
        try (ChunkIndex rows = ChunkIndex.open(folder.resolve("index"))) {
            assertThat(rows.last()).isNull();
            for (int i = 0; i < 300; i++) {
                ChunkKey key = key();
                keys.add(key);
                rows.put(key, new ChunkIndex.Row(i, 2, 3, 4, SHAPE, i % 2 == 0 ? null : "n" + i));
                assertThat(rows.get(key).segment()).isEqualTo(i);
                assertThat(rows.get(key).home()).isEqualTo(i % 2 == 0 ? null : "n" + i);
            }
            rows.summarize(5, new byte[] {1});
            assertThat(rows.last()).isEqualTo(keys.last());
            List<ChunkKey> listed = new ArrayList<>();
            List<Map.Entry<ChunkKey, ChunkIndex.Row>> page = rows.list(null, 70);
            while (!page.isEmpty()) {
                page.forEach(row -> listed.add(row.getKey()));
                page = rows.list(page.getLast().getKey(), 70);
            }
            assertThat(listed).containsExactlyElementsOf(keys);
            List<ChunkKey> all = new ArrayList<>();
            rows.forEach((key, row) -> all.add(key));
            assertThat(all).containsExactlyElementsOf(keys);
            assertThat(rows.summarized()).containsExactly(5);
        }
    }

    /** Whoever is late meets a closed index, not memory that is no longer there. */
    @Test
    void aClosedIndexSaysSo() throws IOException {
        ChunkIndex rows = ChunkIndex.open(folder.resolve("index"));
        rows.close();
        rows.close();
        assertThatThrownBy(() -> rows.get(key())).isInstanceOf(UncheckedIOException.class);
        assertThatThrownBy(() -> rows.list(null, 1)).isInstanceOf(UncheckedIOException.class);
    }

    private List<Path> files(String prefix) throws IOException {
        try (Stream<Path> all = Files.list(data().resolve(SegmentStore.INDEX))) {
            return all.filter(file -> file.getFileName().toString().startsWith(prefix)).toList();
        }
    }

    private static void damageRows(Path index) throws IOException {
        try (Stream<Path> all = Files.list(index)) {
            for (Path file : all.filter(path -> path.toString().endsWith(".sst")).toList()) {
                damage(file);
            }
        }
    }

    private static void damage(Path file) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        for (int at = 20; at < 60; at++) {
            bytes[at] ^= 0x55;
        }
        Files.write(file, bytes);
    }

    @Test
    void anIndexThatCannotBeOpenedForWantOfFilesStays() throws IOException {
        Path index = folder.resolve("index");
        ChunkKey key = key();
        ChunkIndex.Row row = new ChunkIndex.Row(1, 2, 3, 4, SHAPE, null);
        try (ChunkIndex first = ChunkIndex.open(index)) {
            first.put(key, row);
            first.checkpoint(new ChunkIndex.Checkpoint(1, 1));
            first.awaitWritten(LIMIT.toMillis());
        }
        try (NoMoreFiles _ = new NoMoreFiles()) {
            assertThatThrownBy(() -> ChunkIndex.open(index).close())
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("Too many open files");
        }
        try (ChunkIndex again = ChunkIndex.open(index)) {
            assertThat(again.get(key)).isEqualTo(row);
        }
    }
}
