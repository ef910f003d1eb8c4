package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.protocol.Disk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Garbage stays bounded, and nobody who uses the store meanwhile sees anything of that. */
@Timeout(120)
class CompactionTest {
    private static final int SEGMENT_BYTES = 1 << 20;
    private static final double MOST_GARBAGE = 0.25;

    @TempDir Path folder;
    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private final AckedChunks chunks = new AckedChunks();

    private SegmentStore open(long capacityBytes, long reservedBytes, Disk disk)
            throws IOException {
        return open(capacityBytes, reservedBytes, disk, FaultPoints.NONE);
    }

    private SegmentStore open(FaultPoints faults) throws IOException {
        return open(Long.MAX_VALUE, 0, Disk.of(folder), faults);
    }

    private SegmentStore open(long capacityBytes, long reservedBytes, Disk disk, FaultPoints faults)
            throws IOException {
        return SegmentStore.open(
                folder,
                new SegmentStore.Options(
                        "c", "n", capacityBytes, reservedBytes, SEGMENT_BYTES, true),
                disk,
                faults);
    }

    private SegmentStore open() throws IOException {
        return open(Long.MAX_VALUE, 0, Disk.of(folder));
    }

    private void fill(SegmentStore store, int count, int mostBytes) throws IOException {
        Map<ChunkKey, byte[]> some = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            byte[] bytes = new byte[1 + random.nextInt(mostBytes)];
            random.nextBytes(bytes);
            some.put(new ChunkKey(random.nextLong(), random.nextLong(), random.nextInt(6)), bytes);
        }
        chunks.put(store, some);
    }

    private void deleteOneIn(SegmentStore store, int n) throws IOException {
        chunks.delete(store, chunks.live().stream().filter(key -> random.nextInt(n) == 0).toList());
    }

    private static double garbage(SegmentStore store) throws IOException {
        return (double) store.files().garbageBytes() / store.statistics().usedBytes();
    }

    @Test
    void garbageIsAtMostAQuarterHoweverScatteredTheDeletes() throws IOException {
        try (SegmentStore store = open();
                Compaction compaction = new Compaction(store, "n")) {
            boolean needed = false;
            for (int round = 0; round < 6; round++) {
                fill(store, 1_000, 9_000);
                deleteOneIn(store, 2);
                needed |= garbage(store) > MOST_GARBAGE;
                compaction.compact();
                assertThat(garbage(store)).as("seed %s", seed).isLessThanOrEqualTo(MOST_GARBAGE);
                chunks.check(store);
            }
            assertThat(needed).as("it would be more without").isTrue();
            deleteOneIn(store, 1);
            compaction.compact();
            assertThat(store.statistics().usedBytes()).isLessThan(SEGMENT_BYTES / 4);
        }
        try (SegmentStore store = open()) {
            chunks.check(store);
        }
    }

    /** The first segment's copies are free, the second's wait for the pace, until it is closed. */
    @Test
    void itCopiesNoFasterThanItMay() throws Exception {
        try (SegmentStore store = open()) {
            fill(store, 1_000, 9_000);
            deleteOneIn(store, 2);
            assertThat(store.files().wasteful(false)).hasSizeGreaterThan(2);
            AtomicInteger removed = new AtomicInteger();
            Thread compacting;
            try (Compaction compaction = new Compaction(store, "n", 1)) {
                compacting = Thread.ofPlatform().start(() -> removed.set(compact(compaction)));
                await().until(() -> waitsOrIsOver(compacting));
            }
            compacting.join();
            assertThat(removed.get()).as("seed %s", seed).isLessThanOrEqualTo(2);
            chunks.check(store);
        }
    }

    private static int compact(Compaction compaction) {
        try {
            return compaction.compact();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean waitsOrIsOver(Thread thread) {
        return thread.getState() == Thread.State.TIMED_WAITING
                || thread.getState() == Thread.State.TERMINATED;
    }

    @Test
    void readsDeletesAndPutsGoOnMeanwhile() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try (SegmentStore store = open();
                Compaction compaction = new Compaction(store, "n")) {
            fill(store, 1_500, 4_000);
            List<ChunkKey> stay = chunks.live().subList(0, 400);
            Map<ChunkKey, byte[]> expected = new LinkedHashMap<>();
            stay.forEach(key -> expected.put(key, chunks.bytes(key)));
            AtomicBoolean done = new AtomicBoolean();
            Future<?> reader =
                    threads.submit(() -> {
                        while (!done.get()) {
                            for (Map.Entry<ChunkKey, byte[]> chunk : expected.entrySet()) {
                                byte[] bytes = chunk.getValue();
                                assertThat(AckedChunks.read(store, chunk.getKey(), bytes.length))
                                        .isEqualTo(bytes);
                            }
                        }
                        return null;
                    });
            Future<Integer> compacting =
                    threads.submit(() -> {
                        int removed = 0;
                        while (!done.get()) {
                            removed += compaction.compact();
                        }
                        return removed;
                    });
            for (int round = 0; round < 30; round++) {
                List<ChunkKey> others = chunks.live();
                others.removeAll(stay);
                chunks.delete(
                        store, others.stream().filter(key -> random.nextInt(6) == 0).toList());
                fill(store, 60, 4_000);
            }
            done.set(true);
            reader.get(60, TimeUnit.SECONDS);
            assertThat(compacting.get(60, TimeUnit.SECONDS)).isPositive();
            compaction.compact();
            chunks.check(store);
            assertThat(garbage(store)).isLessThanOrEqualTo(MOST_GARBAGE);
        } finally {
            threads.shutdownNow();
        }
        try (SegmentStore store = open()) {
            chunks.check(store);
        }
    }

    /** What takes chunks no more gets rid of its garbage, which takes room first. */
    @Test
    void aFullNodeIsCompactedWithinItsReserve() throws IOException {
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
        long reserve = 2L * SEGMENT_BYTES;
        try (SegmentStore store = open(4 << 20, reserve, disk);
                Compaction compaction = new Compaction(store, "n")) {
            fill(store, 700, 9_000);
            free.set(reserve);
            deleteOneIn(store, 2);
            long before = store.statistics().usedBytes();
            assertThat(compaction.compact()).isPositive();
            assertThat(store.statistics().usedBytes()).isLessThan(before * 3 / 4);
            chunks.check(store);
        }
    }

    @Test
    void aDamagedChunkKeepsItsSegmentUntilItIsWrittenAgain() throws IOException {
        try (SegmentStore store = open()) {
            fill(store, 300, 9_000);
            ChunkKey key =
                    chunks.live().stream().filter(k -> k.index() != 5).findFirst().orElseThrow();
            byte[] bytes = chunks.bytes(key);
            ChunkLocation location = store.location(key);
            assertThat(location.segment().sealed()).isTrue();
            try (FileChannel channel =
                    FileChannel.open(location.segment().path(), StandardOpenOption.WRITE)) {
                long first = (long) location.offset() + ChunkRecord.headerBytes(0, bytes.length);
                channel.write(ByteBuffer.wrap(new byte[] {(byte) ~bytes[0]}), first);
            }
            List<ChunkKey> others = new ArrayList<>(chunks.live());
            others.remove(key);
            chunks.delete(store, others.stream().filter(k -> random.nextBoolean()).toList());
            chunks.damage(key);
            try (Compaction compaction = new Compaction(store, "n")) {
                compaction.compact();
            }
            assertThat(location.segment().isRemoved()).isFalse();
            assertThat(store.corrupt()).containsExactly(key);
            chunks.put(store, Map.of(key, bytes));
            assertThat(store.has(key)).isTrue();
            try (Compaction compaction = new Compaction(store, "n")) {
                compaction.compact();
            }
            assertThat(location.segment().isRemoved()).isTrue();
            chunks.check(store);
            ByteBuffer into = ByteBuffer.allocateDirect(SegmentStore.readRoom(bytes.length));
            assertThat(store.read(key, 0, bytes.length, into)).isEqualTo(ChunkStatus.OK);
        }
    }

    /** One of a sealed segment's chunks, and half of all others are deleted. */
    private ChunkKey oneAmongGarbage(SegmentStore store) throws IOException {
        fill(store, 600, 9_000);
        ChunkKey key = chunks.live().stream().filter(k -> k.index() != 5).findFirst().orElseThrow();
        assertThat(place(store, key).segment().sealed()).isTrue();
        List<ChunkKey> others = new ArrayList<>(chunks.live());
        others.remove(key);
        chunks.delete(store, others.stream().filter(k -> random.nextBoolean()).toList());
        return key;
    }

    private static ChunkLocation place(SegmentStore store, ChunkKey key) {
        return Objects.requireNonNull(store.location(key));
    }

    private static int compact(SegmentStore store) throws IOException {
        try (Compaction compaction = new Compaction(store, "n")) {
            return compaction.compact();
        }
    }

    @Test
    void aChunkThatTheDiskDoesNotGiveKeepsItsOwnSegmentOnly() throws IOException {
        BadSectors bad = new BadSectors();
        try (SegmentStore store = open(bad)) {
            ChunkKey key = oneAmongGarbage(store);
            byte[] bytes = chunks.bytes(key);
            ChunkLocation location = place(store, key);
            bad.add(location.segment().path(), location.offset());
            chunks.damage(key);
            assertThat(compact(store)).as("seed %s", seed).isPositive();
            assertThat(location.segment().isRemoved()).isFalse();
            assertThat(store.corrupt()).containsExactly(key);
            chunks.check(store);
            chunks.put(store, Map.of(key, bytes));
            compact(store);
            assertThat(location.segment().isRemoved()).isTrue();
            chunks.check(store);
        }
        try (SegmentStore store = open()) {
            chunks.check(store);
        }
    }

    @Test
    void aSegmentThatCannotBeLookedThroughDoesNotStopTheOthers() throws IOException {
        BadSectors bad = new BadSectors();
        try (SegmentStore store = open(bad)) {
            SegmentFile segment = place(store, oneAmongGarbage(store)).segment();
            bad.add(segment.path(), 0);
            assertThat(compact(store)).as("seed %s", seed).isPositive();
            assertThat(segment.isRemoved()).isFalse();
            assertThat(store.files().wasteful(false)).containsExactly(segment);
            chunks.check(store);
        }
    }

    /** It may never be readable again, and each time the log tells of it. */
    @Test
    void aSegmentThatCannotBeLookedThroughIsTriedLessAndLessOften() throws IOException {
        AtomicReference<Path> unreadable = new AtomicReference<>(folder);
        AtomicInteger tried = new AtomicInteger();
        FaultPoints failing =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void reading(Path path, long offset) throws IOException {
                        if (offset == 0 && path.equals(unreadable.get())) {
                            tried.incrementAndGet();
                            throw new IOException("Input/output error");
                        }
                    }
                };
        AtomicLong now = new AtomicLong();
        try (SegmentStore store = open(failing);
                Compaction compaction =
                        new Compaction(store, "n", 64 << 20, Long.MAX_VALUE, now::get)) {
            SegmentFile segment = place(store, oneAmongGarbage(store)).segment();
            unreadable.set(segment.path());
            for (int second = 0; second < 3_600; second += 10) {
                compaction.compact();
                now.addAndGet(TimeUnit.SECONDS.toNanos(10));
            }
            assertThat(tried).as("after 0, 30, 90, 210, 450, 930, 1890 s").hasValue(7);
            for (int hour = 0; hour < 10; hour++) {
                now.addAndGet(TimeUnit.HOURS.toNanos(1));
                compaction.compact();
            }
            assertThat(tried).as("once an hour").hasValue(17);
            unreadable.set(folder);
            now.addAndGet(TimeUnit.HOURS.toNanos(1));
            assertThat(compaction.compact()).isEqualTo(1);
            assertThat(segment.isRemoved()).isTrue();
            chunks.check(store);
        }
    }

    /** Else they would take their space twice until the next start. */
    @Test
    void whatWasCopiedBeforeAFailureDiesWhereItWas() throws IOException {
        AtomicInteger readsLeft = new AtomicInteger(Integer.MAX_VALUE);
        FaultPoints failing =
                new FaultPoints() {
                    @Override
                    public void reached(Step step, Path path) {}

                    @Override
                    public void reading(Path path, long offset) {
                        if (readsLeft.getAndDecrement() <= 0) {
                            throw new IllegalStateException("a failure that nobody foresaw");
                        }
                    }
                };
        try (SegmentStore store = open(failing)) {
            oneAmongGarbage(store);
            readsLeft.set(40);
            assertThat(compact(store)).as("seed %s", seed).isZero();
            readsLeft.set(Integer.MAX_VALUE);
            assertThat(compact(store)).isPositive();
            assertThat(store.files().wasteful(false)).as("seed %s", seed).isEmpty();
            assertThat(garbage(store)).isLessThanOrEqualTo(MOST_GARBAGE);
            chunks.check(store);
        }
    }
}
