package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.protocol.Disk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Segments of which the disk has got back almost all: each is an open file for as long as it is
 * there.
 */
@Timeout(120)
class SparseSegmentsTest {
    private static final int SEGMENT_BYTES = 1 << 20;
    private static final int CHUNK_BYTES = 60_000;
    private static final int CHUNKS = 400;

    @TempDir Path folder;
    private final AckedChunks chunks = new AckedChunks();
    private final AtomicLong now = new AtomicLong();
    private final List<ChunkKey> keys = new ArrayList<>();

    @BeforeEach
    void fill() throws IOException {
        Random random = new Random(1);
        Map<ChunkKey, byte[]> some = new LinkedHashMap<>();
        for (int i = 0; i < CHUNKS; i++) {
            byte[] bytes = new byte[CHUNK_BYTES];
            random.nextBytes(bytes);
            some.put(new ChunkKey(1, i, 0), bytes);
        }
        keys.addAll(some.keySet());
        try (SegmentStore store = open()) {
            chunks.put(store, some);
        }
    }

    private SegmentStore open() throws IOException {
        return open(FaultPoints.NONE);
    }

    private SegmentStore open(FaultPoints faults) throws IOException {
        return open(Disk.of(folder), faults);
    }

    private SegmentStore open(Disk disk, FaultPoints faults) throws IOException {
        return SegmentStore.open(
                folder,
                new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, SEGMENT_BYTES, true),
                disk,
                faults);
    }

    /** All but one of so many in a row. */
    private void deleteAllButOneOf(SegmentStore store, int n) throws IOException {
        chunks.delete(store, keys.stream().filter(key -> key.idLow() % n != 0).toList());
    }

    @Test
    void thereAreNoMoreThanTwoForASegmentFullOfWhatIsKept() throws IOException {
        try (SegmentStore store = open();
                Compaction compaction = new Compaction(store, "n")) {
            deleteAllButOneOf(store, 10);
            assertThat(store.files().count()).isGreaterThan(CHUNKS * CHUNK_BYTES / SEGMENT_BYTES);
            compaction.compact();
            chunks.check(store);
            long live = store.statistics().liveBytes();
            assertThat(store.files().count())
                    .isLessThanOrEqualTo((int) (2 * live / SEGMENT_BYTES) + 2);
        }
        try (SegmentStore store = open()) {
            chunks.check(store);
        }
    }

    /** Else more would be written for what is deleted than is deleted. */
    @Test
    void nothingIsWrittenAnewWhereMostIsKept() throws IOException {
        try (SegmentStore store = open();
                Compaction compaction = new Compaction(store, "n")) {
            chunks.delete(store, keys.stream().filter(key -> key.idLow() % 3 == 0).toList());
            int before = store.files().count();
            assertThat(compaction.compact()).isZero();
            assertThat(store.files().count()).isEqualTo(before);
            chunks.check(store);
        }
    }

    /** With no descriptor left there is only the rest of the newest segment to copy to. */
    @Test
    void thoseWithLeastToCopyGoFirst() throws IOException {
        try (SegmentStore store = open()) {
            chunks.delete(store, keys.stream().filter(key -> key.idLow() % 5 > 1).toList());
            chunks.delete(
                    store,
                    chunks.live().stream()
                            .filter(key -> key.idLow() > 200 && key.idLow() % 5 == 1)
                            .toList());
            assertThat(store.files().wasteful(true))
                    .hasSizeGreaterThan(10)
                    .extracting(SegmentFile::liveBytes)
                    .isSorted();
        }
    }

    /** More than half of what is in them lives, and the disk has not got the rest back. */
    private List<SegmentFile> wasteMuch(SegmentStore store) throws IOException {
        int before = store.files().count();
        Map<ChunkKey, byte[]> small = new LinkedHashMap<>();
        for (int i = 0; i < 800; i++) {
            small.put(new ChunkKey(2, i, 0), new byte[3_000 + i % 3]);
        }
        chunks.put(store, small);
        chunks.delete(store, small.keySet().stream().filter(k -> k.idLow() % 5 < 2).toList());
        List<SegmentFile> wasteful =
                store.files().all().stream()
                        .skip(before)
                        .filter(segment -> segment.sealed() && segment.isWasteful())
                        .toList();
        assertThat(wasteful).isNotEmpty().noneMatch(SegmentFile::isSparse);
        return wasteful;
    }

    /** Else a full node would wait for thousands of others that give it nothing. */
    @Test
    void thoseThatGiveTheDiskSomethingBackGoFirst() throws IOException {
        try (SegmentStore store = open()) {
            deleteAllButOneOf(store, 10);
            List<SegmentFile> wasteful = wasteMuch(store);
            List<SegmentFile> segments = store.files().wasteful(false);
            assertThat(segments).containsAll(wasteful).hasSizeGreaterThan(wasteful.size() + 10);
            int some = (int) segments.stream().filter(SegmentFile::isWasteful).count();
            assertThat(segments.subList(0, some)).allMatch(SegmentFile::isWasteful);
        }
    }

    /** What is deleted while others are emptied comes before the rest of these. */
    @Test
    void whatIsWastedMeanwhileDoesNotWaitForAllThatWereThereBefore() throws IOException {
        try (SegmentStore store = open();
                Compaction compaction = new Compaction(store, "n", 64 << 20, 4 << 20, now::get)) {
            deleteAllButOneOf(store, 10);
            int before = store.files().count();
            assertThat(compaction.compact()).isBetween(1, 10);
            assertThat(store.files().count()).isGreaterThan(before / 2);
            List<SegmentFile> wasteful = wasteMuch(store);
            assertThat(compaction.compact()).isPositive();
            assertThat(wasteful).anyMatch(SegmentFile::isRemoved);
            while (compaction.compact() > 0) {
                chunks.check(store);
            }
            assertThat(store.files().count()).isLessThan(10);
        }
    }

    @Test
    void whereNoDescriptorIsLeftItIsTriedOnceAndNotForEachSegment() throws IOException {
        AtomicInteger tried = new AtomicInteger();
        FaultPoints usedUp =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void opening(Path path) throws IOException {
                        tried.incrementAndGet();
                        throw new FileSystemException(path.toString(), null, "Too many open files");
                    }
                };
        try (SegmentStore store = open(usedUp)) {
            deleteAllButOneOf(store, 10);
            try (Compaction compaction = new Compaction(store, "n")) {
                assertThat(compaction.compact()).as("into the newest segment").isPositive();
                assertThat(compaction.compact()).isZero();
            }
            assertThat(tried).as("and with the descriptors kept for this").hasValue(2);
            chunks.check(store);
        }
        try (SegmentStore store = open();
                Compaction compaction = new Compaction(store, "n")) {
            assertThat(compaction.compact()).isPositive();
            chunks.check(store);
        }
    }

    /** Each that is looked through in vain is read, and there are very many. */
    @Test
    void whereThereIsNoRoomItIsTriedOnceAndNotForEachSegment() throws IOException {
        AtomicInteger looked = new AtomicInteger();
        FaultPoints counting =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void reading(Path path, long offset) {
                        looked.addAndGet(offset == 0 ? 1 : 0);
                    }
                };
        AtomicLong free = new AtomicLong(Long.MAX_VALUE / 2);
        Disk disk =
                new Disk() {
                    @Override
                    public long freeBytes() {
                        return free.get();
                    }

                    @Override
                    public long sizeBytes() {
                        return Long.MAX_VALUE / 2;
                    }
                };
        try (SegmentStore store = open(disk, counting);
                Compaction compaction =
                        new Compaction(store, "n", 64 << 20, Long.MAX_VALUE, now::get)) {
            deleteAllButOneOf(store, 10);
            free.set(0);
            int removed = compaction.compact();
            assertThat(looked).hasValue(removed + 1);
            now.addAndGet(TimeUnit.SECONDS.toNanos(29));
            assertThat(compaction.compact()).isZero();
            assertThat(looked).hasValue(removed + 1);
            free.set(Long.MAX_VALUE / 2);
            now.addAndGet(TimeUnit.SECONDS.toNanos(1));
            assertThat(compaction.compact()).isPositive();
            chunks.check(store);
        }
    }

    /** A sync takes its time, and where there are thousands of them others wait often. */
    @Test
    void whatIsEmptiedIsNotSyncedWhileOthersWait() throws IOException {
        Set<Path> emptied = new HashSet<>();
        Thread compacting = Thread.currentThread();
        AtomicInteger puts = new AtomicInteger();
        AtomicReference<String> waited = new AtomicReference<>("");
        AtomicReference<SegmentStore> opened = new AtomicReference<>();
        FaultPoints probing =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void syncing(Path path) {
                        if (Thread.currentThread().equals(compacting)
                                && emptied.contains(path)
                                && waited.get().isEmpty()
                                && !puts(opened.get(), puts.incrementAndGet())) {
                            waited.set("a put waits for the sync of " + path);
                        }
                    }
                };
        try (SegmentStore store = open(probing);
                Compaction compaction = new Compaction(store, "n")) {
            opened.set(store);
            deleteAllButOneOf(store, 10);
            store.checkpoint(); // what dies from now on is told of anew
            store.files().wasteful(true).forEach(segment -> emptied.add(segment.path()));
            compaction.compact();
            assertThat(waited.get()).isEmpty();
            assertThat(puts.get()).isGreaterThan(10);
            for (int i = 1; i <= puts.get(); i++) {
                store.delete(List.of(new ChunkKey(3, i, 0)));
            }
            chunks.check(store);
        }
    }

    private static boolean puts(SegmentStore store, int number) {
        Thread put =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                store.put(
                                        new ChunkKey(3, number, 0),
                                        AckedChunks.SHAPE,
                                        new byte[100]);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        try {
            return put.join(Duration.ofSeconds(10));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** However little is in each: each is synced, and removed. */
    @Test
    void eachSegmentCountsForAtLeastAMebibyte() throws IOException {
        try (SegmentStore store = open();
                Compaction compaction = new Compaction(store, "n", 64 << 20, 3 << 20, now::get)) {
            deleteAllButOneOf(store, 10);
            assertThat(compaction.compact()).isEqualTo(3);
            chunks.check(store);
        }
    }

    /** Of this store: its segments', and what it has of its folder. */
    private long descriptors() throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(
                            fd -> {
                                try {
                                    Path file = Files.readSymbolicLink(fd);
                                    return file.equals(folder)
                                            || file.toString().contains(folder + "/segment");
                                } catch (IOException e) {
                                    return false; // closed meanwhile
                                }
                            })
                    .count();
        }
    }

    /** The chunk that does not fit ends the newest segment: nothing could be copied to one. */
    @Test
    void whereAPutFindsNoDescriptorOthersComeBackNevertheless() throws IOException {
        AtomicLong limit = new AtomicLong(Long.MAX_VALUE);
        FaultPoints limited =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void opening(Path path) throws IOException {
                        // It, and its folder while that is synced.
                        if (descriptors() + 2 > limit.get()) {
                            throw new FileSystemException(
                                    path.toString(), null, "Too many open files");
                        }
                    }
                };
        try (SegmentStore store = open(limited);
                Compaction compaction = new Compaction(store, "n", 1 << 30, 1L << 40, now::get)) {
            deleteAllButOneOf(store, 10);
            limit.set(descriptors());
            for (int i = 0; i < 2; i++) {
                ChunkKey large = new ChunkKey(4, i, 0);
                assertThatThrownBy(() ->
                                store.put(
                                        large, AckedChunks.SHAPE, new byte[SEGMENT_BYTES - 8_192]))
                        .hasMessageContaining("Too many open files");
            }
            assertThat(compaction.compact()).isGreaterThan(10);
            assertThat(descriptors()).isLessThan(limit.get());
            chunks.check(store);
            chunks.put(store, Map.of(new ChunkKey(4, 9, 0), new byte[1_000]));
        }
        assertThat(descriptors()).as("once it is closed").isZero();
    }
}
