package org.globalfs.replica.state.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.globalfs.replica.state.model.Keys;
import org.globalfs.replica.state.model.Records;
import org.globalfs.replica.state.model.Table;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.PerfLevel;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** What is committed, what is not yet, and what a snapshot keeps: each beside a sorted map. */
class OverlayTest {
    private static final Table TABLE = Table.EXTENT;

    /** Of keys: such as have no next one, end with the highest byte, or lie in each other. */
    private static final byte[][] PREFIXES = {
        {}, {0}, {1}, {1, -1}, {1, -1, -1}, {2}, {-1}, {-1, -1}, {-1, -1, 3}
    };

    @TempDir Path folder;
    private Store store;
    private Overlay overlay;

    @BeforeEach
    void open() {
        store = Store.open(folder.resolve("store"), StateOptions.defaults());
        overlay = new Overlay(store);
    }

    @AfterEach
    void close() {
        store.close();
    }

    private static List<String> scanned(Records records, byte[] prefix, byte[] from) {
        List<String> found = new ArrayList<>();
        records.scan(
                TABLE,
                prefix,
                from,
                (key, value) -> found.add(Arrays.toString(key) + Arrays.toString(value)));
        return found;
    }

    private static List<String> scanned(
            NavigableMap<byte[], byte[]> model, byte[] prefix, byte[] from) {
        return model.tailMap(from, true).entrySet().stream()
                .filter(entry -> Keys.startsWith(entry.getKey(), prefix))
                .map(OverlayTest::text)
                .toList();
    }

    private static String text(Map.Entry<byte[], byte[]> entry) {
        return Arrays.toString(entry.getKey()) + Arrays.toString(entry.getValue());
    }

    private static String floor(Records records, byte[] prefix, byte[] at) {
        Records.Row row = records.floor(TABLE, prefix, at);
        return row == null ? "none" : Arrays.toString(row.key()) + Arrays.toString(row.value());
    }

    private static String floor(NavigableMap<byte[], byte[]> model, byte[] prefix, byte[] at) {
        Map.Entry<byte[], byte[]> entry = model.floorEntry(at);
        return entry == null || !Keys.startsWith(entry.getKey(), prefix) ? "none" : text(entry);
    }

    private static List<String> scannedBack(Records records, byte[] prefix, byte[] from) {
        List<String> found = new ArrayList<>();
        records.scanBack(
                TABLE,
                prefix,
                from,
                (key, value) -> found.add(Arrays.toString(key) + Arrays.toString(value)));
        return found;
    }

    private static List<String> scannedBack(
            NavigableMap<byte[], byte[]> model, byte[] prefix, byte[] from) {
        return model.headMap(from, true).descendingMap().entrySet().stream()
                .filter(entry -> Keys.startsWith(entry.getKey(), prefix))
                .map(OverlayTest::text)
                .toList();
    }

    private static byte[] key(Random random) {
        byte[] prefix = PREFIXES[random.nextInt(PREFIXES.length)];
        byte[] key = Arrays.copyOf(prefix, prefix.length + 1 + random.nextInt(2));
        for (int i = prefix.length; i < key.length; i++) {
            key[i] = (byte) (random.nextInt(4) - 2);
        }
        return key;
    }

    private static void check(Records records, NavigableMap<byte[], byte[]> model, Random random) {
        byte[] prefix = PREFIXES[random.nextInt(PREFIXES.length)];
        byte[] inside = key(random);
        byte[] at = Keys.startsWith(inside, prefix) ? inside : prefix;
        assertThat(scanned(records, prefix, at)).isEqualTo(scanned(model, prefix, at));
        assertThat(scannedBack(records, prefix, at)).isEqualTo(scannedBack(model, prefix, at));
        assertThat(floor(records, prefix, at)).isEqualTo(floor(model, prefix, at));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void areWhatASortedMapHas(long seed) {
        Random random = new Random(seed);
        NavigableMap<byte[], byte[]> model = new TreeMap<>(Arrays::compareUnsigned);
        for (int step = 0; step < 3_000; step++) {
            byte[] key = key(random);
            if (random.nextInt(5) < 2) {
                overlay.delete(TABLE, key);
                model.remove(key);
            } else {
                byte[] value = {(byte) step, 1};
                overlay.put(TABLE, key, value);
                model.put(key, value);
            }
            check(overlay, model, random);
            if (random.nextInt(20) == 0) {
                overlay.commit();
                check(store.newest(), model, random);
            }
        }
    }

    @Test
    void aSnapshotKeepsWhatIsDeletedAfterIt() {
        overlay.put(TABLE, Keys.of(1, 1), new byte[] {1});
        overlay.commit();
        try (StoreView before = StoreView.snapshot(store)) {
            overlay.delete(TABLE, Keys.of(1, 1));
            overlay.put(TABLE, Keys.of(1, 2), new byte[] {2});
            overlay.commit();

            assertThat(scanned(before, Keys.of(1), Keys.of(1)))
                    .containsExactly(Arrays.toString(Keys.of(1, 1)) + "[1]");
            assertThat(floor(before, Keys.of(1), Keys.of(1, 9)))
                    .isEqualTo(Arrays.toString(Keys.of(1, 1)) + "[1]");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aVisitorThatGoesBackMayRemoveWhatItIsAt(boolean committed) {
        for (int i = 0; i < 10; i++) {
            overlay.put(TABLE, Keys.of(1, i), new byte[] {(byte) i});
        }
        if (committed) {
            overlay.commit();
        }
        List<Byte> visited = new ArrayList<>();
        overlay.scanBack(
                TABLE,
                Keys.of(1),
                Keys.of(1, 7),
                (key, value) -> {
                    visited.add(value[0]);
                    overlay.delete(TABLE, key);
                    return value[0] > 2;
                });
        assertThat(visited)
                .containsExactly((byte) 7, (byte) 6, (byte) 5, (byte) 4, (byte) 3, (byte) 2);
        assertThat(scanned(overlay, Keys.of(1), Keys.of(1))).hasSize(4);
    }

    @Test
    void whatWasDeletedBesideAPrefixIsNotWalkedOver() throws RocksDBException {
        for (long ino = 1; ino <= 1_000; ino++) {
            overlay.put(TABLE, Keys.of(ino, 0), new byte[] {1});
        }
        overlay.commit();
        for (long ino = 1; ino <= 1_000; ino++) {
            overlay.delete(TABLE, Keys.of(ino, 0));
        }
        overlay.commit();

        // What RocksDB counts is the thread's, whichever database is asked.
        try (RocksDB any = RocksDB.open(folder.resolve("any").toString())) {
            any.setPerfLevel(PerfLevel.ENABLE_COUNT);
            any.getPerfContext().reset();
            assertThat(scanned(overlay, Keys.of(500), Keys.of(500))).isEmpty();
            assertThat(floor(overlay, Keys.of(500), Keys.of(500, 9))).isEqualTo("none");
            assertThat(scanned(store.newest(), Keys.of(500), Keys.of(500))).isEmpty();
            assertThat(floor(store.newest(), Keys.of(500), Keys.of(500, 9))).isEqualTo("none");
            assertThat(any.getPerfContext().getInternalDeleteSkippedCount()).isBetween(1L, 20L);
            any.setPerfLevel(PerfLevel.DISABLE);
        }
    }
}
