package org.globalfs.multicast.log;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MulticastLogTest {
    @TempDir Path folder;

    private LogOptions options() {
        return new LogOptions(folder, "test", 7, true, 1 << 20, 0);
    }

    private MulticastLog open(List<StoredRecord> into) {
        return MulticastLog.open(options(), into::add);
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(UTF_8));
    }

    private static String text(StoredRecord record) {
        return new String(record.payload(), UTF_8);
    }

    private static void accept(MulticastLog log, int ring, long instance, String value) {
        log.append(ring, StoredRecord.ACCEPTED, 5 << 16 | 7, instance, bytes(value));
    }

    private Path segment(int sequence) {
        return SegmentPreparer.fileOf(folder, sequence);
    }

    @Test
    void whatWasSyncedIsThereAfterACrash() {
        MulticastLog log = open(new ArrayList<>());
        accept(log, 1, 1, "a");
        accept(log, 2, 1, "b");
        accept(log, 1, 2, "c");
        log.append(1, StoredRecord.DECIDED_THROUGH, 0, 2, bytes("t"));
        log.sync();
        log.abandon();

        List<StoredRecord> recovered = new ArrayList<>();
        MulticastLog again = open(recovered);
        assertThat(recovered)
                .extracting(MulticastLogTest::text)
                .containsExactly("a", "b", "c", "t");
        assertThat(again.read(1, 1, 9, 1 << 20))
                .extracting(MulticastLogTest::text)
                .containsExactly("a", "c");
        assertThat(again.read(2, 1, 1, 1 << 20))
                .extracting(MulticastLogTest::text)
                .containsExactly("b");
        assertThat(again.read(2, 2, 2, 1 << 20)).isEmpty();
        again.close();
    }

    @Test
    void newestRecordOfAnInstanceIsRead() {
        MulticastLog log = open(new ArrayList<>());
        accept(log, 1, 1, "old");
        accept(log, 1, 2, "second");
        accept(log, 1, 1, "new");
        log.write();
        assertThat(log.read(1, 1, 2, 1 << 20))
                .extracting(MulticastLogTest::text)
                .containsExactly("new", "second");
        assertThat(log.read(1, 1, 2, 1)).hasSize(1);
        log.close();
    }

    @Test
    void whatACheckpointReplacedIsNotRead() {
        MulticastLog log = open(new ArrayList<>());
        accept(log, 1, 1, "decided");
        accept(log, 1, 2, "never decided");
        accept(log, 2, 2, "other ring");
        log.append(1, StoredRecord.START_AFTER, 0, 9, bytes("t"));
        accept(log, 1, 10, "after it");
        log.sync();
        assertServesOnlyWhatIsDecided(log);
        log.close();
        MulticastLog again = open(new ArrayList<>());
        assertServesOnlyWhatIsDecided(again);
        again.close();
    }

    private static void assertServesOnlyWhatIsDecided(MulticastLog log) {
        for (int instance = 1; instance <= 9; instance++) {
            assertThat(log.read(1, instance, 10, 1 << 20)).as("from %s", instance).isEmpty();
        }
        assertThat(log.firstAvailable(1)).isEqualTo(10);
        assertThat(log.read(1, 10, 10, 1 << 20))
                .extracting(MulticastLogTest::text)
                .containsExactly("after it");
        assertThat(log.read(2, 2, 2, 1 << 20))
                .extracting(MulticastLogTest::text)
                .containsExactly("other ring");
    }

    @Test
    void tornTailIsCut() throws IOException {
        MulticastLog log = open(new ArrayList<>());
        accept(log, 1, 1, "whole");
        log.sync();
        accept(log, 1, 2, "torn".repeat(100));
        accept(log, 1, 3, "same batch as the torn one");
        log.write();
        log.abandon();
        flip(segment(1), SegmentHeader.BYTES + RecordFormat.sizeOf(5) + 60);

        List<StoredRecord> recovered = new ArrayList<>();
        MulticastLog again = open(recovered);
        assertThat(recovered).extracting(MulticastLogTest::text).containsExactly("whole");
        accept(again, 1, 2, "second life");
        again.sync();
        again.close();

        recovered.clear();
        open(recovered).close();
        assertThat(recovered)
                .filteredOn(r -> !r.isMeta())
                .extracting(MulticastLogTest::text)
                .containsExactly("whole", "second life");
    }

    /**
     * Of what a sync failed to write the kernel keeps the pages, and writes nothing at the next.
     */
    @Test
    void whatMayNotBeOnDiskIsWrittenAgainBeforeItIsReliedOn() throws IOException {
        MulticastLog log = open(new ArrayList<>());
        accept(log, 1, 1, "on disk");
        log.sync();
        accept(log, 1, 2, "its sync failed");
        log.write();
        log.abandon();
        int durable = SegmentHeader.BYTES + RecordFormat.sizeOf(7);
        int end = durable + RecordFormat.sizeOf(15);
        byte[] before = Files.readAllBytes(segment(1));

        List<RecordingChannel> opened = new ArrayList<>();
        LogRecovery recovery =
                new LogRecovery(
                        options(),
                        file -> {
                            opened.add(
                                    new RecordingChannel(
                                            FileChannel.open(
                                                    file,
                                                    StandardOpenOption.READ,
                                                    StandardOpenOption.WRITE)));
                            return opened.getLast();
                        });
        recovery.open(record -> {}).close();

        assertThat(opened.getFirst().synced(durable, end + RecordFormat.SEAL_BYTES)).isTrue();
        assertThat(opened.getFirst().synced(durable - 1, durable)).as("what is on disk").isFalse();
        byte[] after = Files.readAllBytes(segment(1));
        assertThat(Arrays.mismatch(before, after)).isGreaterThanOrEqualTo(end);
    }

    @Test
    void everyCutOfTheTailLeavesAPrefix() throws IOException {
        MulticastLog log = open(new ArrayList<>());
        for (int i = 1; i <= 5; i++) {
            accept(log, 1, i, "value " + i);
        }
        log.write();
        log.abandon();
        byte[] whole = Files.readAllBytes(segment(1));
        int end = SegmentHeader.BYTES + 5 * RecordFormat.sizeOf(7);
        for (int cut = SegmentHeader.BYTES; cut <= end; cut += 3) {
            byte[] torn = whole.clone();
            Arrays.fill(torn, cut, torn.length, (byte) 0);
            wipe();
            Files.write(segment(1), torn);
            List<StoredRecord> recovered = new ArrayList<>();
            open(recovered).close();
            int expected = (cut - SegmentHeader.BYTES) / RecordFormat.sizeOf(7);
            assertThat(recovered)
                    .as("cut at %s", cut)
                    .filteredOn(r -> !r.isMeta())
                    .hasSizeBetween(expected, expected + 1);
        }
    }

    private void wipe() throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void damageBeforeWhatWasSyncedLaterIsAnError() throws IOException {
        MulticastLog log = open(new ArrayList<>());
        accept(log, 1, 1, "one");
        accept(log, 1, 2, "two");
        log.sync();
        accept(log, 1, 3, "three");
        log.sync();
        log.abandon();
        flip(segment(1), SegmentHeader.BYTES + RecordFormat.sizeOf(3) + RecordFormat.HEADER_BYTES);
        byte[] before = Files.readAllBytes(segment(1));

        assertThatThrownBy(() -> open(new ArrayList<>()))
                .isInstanceOfSatisfying(
                        LogException.class,
                        e -> assertThat(e.reason()).isEqualTo(LogException.Reason.CORRUPT))
                .hasMessageContaining("segment-000000000001.log is damaged at byte 4136");
        assertThat(Files.readAllBytes(segment(1))).isEqualTo(before);
    }

    @Test
    void damageInAnEarlierSegmentIsAnError() throws IOException {
        MulticastLog log = open(new ArrayList<>());
        fill(log, 3);
        log.abandon();
        flip(segment(1), (1 << 20) - 200_000);
        assertThatThrownBy(() -> open(new ArrayList<>()))
                .isInstanceOf(LogException.class)
                .hasMessageContaining("segment-000000000001.log");
    }

    @Test
    void missingSegmentIsAnError() throws IOException {
        MulticastLog log = open(new ArrayList<>());
        fill(log, 3);
        log.abandon();
        Files.delete(segment(2));
        assertThatThrownBy(() -> open(new ArrayList<>()))
                .isInstanceOf(LogException.class)
                .hasMessageContaining("missing");
    }

    /**
     * Appends 1000-byte values to ring 1 until this many segments exist; returns the last instance.
     */
    private static long fill(MulticastLog log, int segments) {
        return fill(log, 0, segments);
    }

    private static long fill(MulticastLog log, long last, int segments) {
        String value = "v".repeat(1000);
        long instance = last;
        while (log.segmentCount() < segments) {
            accept(log, 1, ++instance, value);
            if (instance % 50 == 0) {
                log.sync();
            }
        }
        log.sync();
        return instance;
    }

    @Test
    void recordsSpanSegmentsAndAreReadBack() {
        MulticastLog log = open(new ArrayList<>());
        long last = fill(log, 4);
        assertThat(log.read(1, 1, last, Integer.MAX_VALUE)).hasSize((int) last);
        log.close();
        List<StoredRecord> recovered = new ArrayList<>();
        MulticastLog again = open(recovered);
        assertThat(recovered).filteredOn(r -> !r.isMeta()).hasSize((int) last);
        assertThat(again.read(1, 1, last, Integer.MAX_VALUE)).hasSize((int) last);
        again.close();
    }

    @Test
    void trimmedSegmentsAreReusedAndMetasSurvive() throws IOException {
        MulticastLog log = open(new ArrayList<>());
        log.append(1, StoredRecord.PROMISED, 99 << 16, 0, bytes(""));
        log.append(2, StoredRecord.PROMISED, 42 << 16, 0, bytes(""));
        log.append(1, StoredRecord.DECIDED_THROUGH, 0, 3, bytes("stamp"));
        long last = 0;
        String value = "v".repeat(1000);
        for (int i = 0; i < 12_000; i++) {
            accept(log, 1, ++last, value);
            if (i % 100 == 0) {
                log.sync();
                log.checkpointed(1, last);
            }
        }
        log.sync();
        long first = log.firstAvailable(1);
        assertThat(first).isGreaterThan(1000);
        assertThat(log.read(1, first - 1, last, 1 << 20)).isEmpty();
        assertThat(log.read(1, first, last, Integer.MAX_VALUE)).hasSize((int) (last - first + 1));
        log.close();

        List<StoredRecord> recovered = new ArrayList<>();
        MulticastLog again = open(recovered);
        assertThat(again.firstAvailable(1)).isEqualTo(first);
        List<StoredRecord> metas = recovered.stream().filter(StoredRecord::isMeta).toList();
        assertThat(metas).anyMatch(r -> r.ring() == 2 && r.ballot() == 42 << 16);
        assertThat(metas).anyMatch(r -> r.ring() == 1 && r.ballot() == 99 << 16);
        assertThat(metas)
                .anyMatch(r -> r.kind() == StoredRecord.DECIDED_THROUGH && text(r).equals("stamp"));
        again.close();
        try (var files = Files.list(folder)) {
            assertThat(files.count()).isLessThan(7);
        }
    }

    @Test
    void aShortLogKeepsNothingBeyondNeed() throws IOException {
        LogOptions retaining = new LogOptions(folder, "test", 7, true, 1 << 20, 3 << 20);
        MulticastLog log = MulticastLog.open(retaining, record -> {});
        long last = writeAndCheckpoint(log, 0);
        int retained = log.segmentCount();
        assertThat(retained).isGreaterThan(3);
        log.keepShort(true);
        last = writeAndCheckpoint(log, last);
        assertThat(log.segmentCount()).isLessThan(3);
        assertThat(log.read(1, last, last, 1 << 20)).hasSize(1);
        log.keepShort(false);
        writeAndCheckpoint(log, last);
        assertThat(log.segmentCount()).isEqualTo(retained);
        log.keepShort(true);
        writeAndCheckpoint(log, last + 12_000);
        log.close(); // ends what trims in the background
        try (var files = Files.list(folder)) {
            assertThat(files.filter(f -> f.toString().contains("spare"))).isEmpty();
        }
    }

    private static long writeAndCheckpoint(MulticastLog log, long from) {
        long last = from;
        for (int i = 0; i < 12_000; i++) {
            accept(log, 1, ++last, "v".repeat(1000));
            if (i % 100 == 0) {
                log.sync();
                log.checkpointed(1, last);
            }
        }
        log.sync();
        return last;
    }

    @Test
    void nothingIsTrimmedThatIsNotCheckpointedInEveryRing() {
        MulticastLog log = open(new ArrayList<>());
        accept(log, 2, 1, "other ring");
        long last = fill(log, 3);
        log.checkpointed(1, last);
        last = fill(log, last, 5);
        assertThat(log.firstAvailable(1)).isEqualTo(1);
        assertThat(log.read(2, 1, 1, 100)).hasSize(1);
        log.checkpointed(2, 1);
        log.checkpointed(1, last);
        for (int i = 0; i < 1500; i++) {
            accept(log, 1, ++last, "v".repeat(1000));
        }
        assertThat(log.firstAvailable(2)).isEqualTo(2);
        assertThat(log.read(2, 1, 1, 100)).isEmpty();
        log.close();
    }

    @Test
    void whatARingNeedsOfAnOldSegmentIsCarriedOn() {
        MulticastLog log = open(new ArrayList<>());
        log.append(2, StoredRecord.OPENED, 5 << 16 | 7, 1, bytes(""));
        accept(log, 2, 1, "checkpointed");
        accept(log, 2, 2, "older");
        accept(log, 2, 3, "needed");
        accept(log, 2, 2, "newer");
        log.append(2, StoredRecord.DECIDED_THROUGH, 0, 3, bytes("t"));
        accept(log, 2, 4, "a vote, which its writer appends again");
        log.checkpointed(2, 1);
        long last = fill(log, 3);
        assertThat(log.heldBackBy()).as("a log of which most is needed").isEmpty();
        log.checkpointed(1, Long.MAX_VALUE);
        last = fill(log, last, 6);
        assertThat(log.heldBackBy()).containsExactly(Map.entry(2, 4L));

        assertThat(log.carry(2, 3, 1)).as("more than one call copies").isFalse();
        assertThat(log.carry(2, 3, 1 << 20)).isTrue();
        assertThat(log.segmentCount()).isGreaterThan(5);
        log.dropCarried();
        assertThat(log.heldBackBy()).isEmpty();
        for (int i = 0; i < 1500; i++) {
            accept(log, 1, ++last, "v".repeat(1000));
        }
        assertThat(log.segmentCount()).isLessThan(5);
        assertServesWhatWasCarried(log);
        log.abandon();

        List<StoredRecord> recovered = new ArrayList<>();
        MulticastLog again = open(recovered);
        assertServesWhatWasCarried(again);
        assertThat(recovered)
                .filteredOn(record -> record.ring() == 2 && !record.isMeta())
                .extracting(MulticastLogTest::text)
                .containsExactly("newer", "needed");
        again.close();
    }

    private static void assertServesWhatWasCarried(MulticastLog log) {
        assertThat(log.firstAvailable(2)).isEqualTo(2);
        assertThat(log.read(2, 2, 9, 1 << 20))
                .extracting(MulticastLogTest::text)
                .containsExactly("newer", "needed");
    }

    /** Fills segments with what no ring needs until then. */
    private static void fillUntil(MulticastLog log, BooleanSupplier enough) {
        log.checkpointed(3, Long.MAX_VALUE);
        for (int i = 1; !enough.getAsBoolean(); i++) {
            accept(log, 3, i, "v".repeat(1000));
        }
        log.sync();
    }

    /**
     * The oldest two segments each have one record that a ring needs: of ring 2, then of ring 1.
     */
    private static void twoHeldBack(MulticastLog log) {
        accept(log, 2, 2, "of the first");
        fillUntil(log, () -> log.segmentCount() == 2);
        accept(log, 1, 1, "of the second");
        fillUntil(log, () -> log.segmentCount() == 6);
        assertThat(log.heldBackBy()).containsExactly(Map.entry(2, 2L));
    }

    @Test
    void onlyTheSegmentIsDroppedFromWhichSomethingWasCarried() {
        MulticastLog log = open(new ArrayList<>());
        twoHeldBack(log);
        Segment first = log.segments()[0];
        log.checkpointed(2, Long.MAX_VALUE);
        fillUntil(log, () -> log.segments()[0] != first);
        log.dropCarried();
        assertThat(log.read(1, 1, 1, 1 << 20))
                .extracting(MulticastLogTest::text)
                .containsExactly("of the second");
        log.close();
    }

    /** Runs the action when the segments are asked for the second time, and gives those before. */
    private static List<StoredRecord> readWhile(MulticastLog log, Runnable action)
            throws IOException {
        AtomicInteger asked = new AtomicInteger();
        try (LogReader reader = new LogReader(2)) {
            return reader.read(
                    () -> {
                        Segment[] segments = log.segments();
                        if (asked.incrementAndGet() == 2) {
                            action.run();
                        }
                        return segments;
                    },
                    1,
                    2,
                    1 << 20);
        }
    }

    @Test
    void aReaderSeesWhatIsCarriedBehindWhatItHasReadJustNow() throws IOException {
        MulticastLog log = open(new ArrayList<>());
        twoHeldBack(log);
        accept(log, 2, 1, "of the newest");
        log.sync();
        assertThat(readWhile(log, () -> log.carry(2, 9, 1 << 20)))
                .extracting(MulticastLogTest::text)
                .containsExactly("of the newest", "of the first");
        log.close();
    }

    @Test
    void aReaderFindsWhatWasCarriedFromASegmentThatIsGone() throws IOException {
        MulticastLog log = open(new ArrayList<>());
        twoHeldBack(log);
        accept(log, 2, 1, "of the newest");
        log.sync();
        Runnable carry =
                () -> {
                    int before = log.segmentCount();
                    fillUntil(log, () -> log.segmentCount() > before);
                    assertThat(log.heldBackBy()).isNotEmpty();
                    assertThat(log.carry(2, 9, 1 << 20)).isTrue();
                    log.dropCarried();
                };
        assertThat(readWhile(log, carry))
                .extracting(MulticastLogTest::text)
                .containsExactly("of the newest", "of the first");
        log.close();
    }

    @Test
    void valueLargerThanASegment() {
        MulticastLog log = open(new ArrayList<>());
        accept(log, 1, 1, "x".repeat(3 << 20));
        accept(log, 1, 2, "y");
        log.sync();
        assertThat(log.read(1, 1, 2, Integer.MAX_VALUE)).hasSize(2);
        log.abandon();
        List<StoredRecord> recovered = new ArrayList<>();
        open(recovered).close();
        assertThat(recovered).filteredOn(r -> !r.isMeta()).hasSize(2);
    }

    @Test
    void randomCrashesLoseNothingSynced() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        List<String> expected = new ArrayList<>();
        for (int life = 0; life < 12; life++) {
            List<StoredRecord> recovered = new ArrayList<>();
            MulticastLog log = open(recovered);
            assertThat(recovered)
                    .filteredOn(r -> !r.isMeta())
                    .extracting(MulticastLogTest::text)
                    .as("seed %s", seed)
                    .containsExactlyElementsOf(expected);
            for (int i = random.nextInt(400); i > 0; i--) {
                String value = expected.size() + "-".repeat(random.nextInt(3000));
                accept(log, 1, expected.size() + 1L, value);
                expected.add(value);
                if (random.nextInt(10) == 0) {
                    log.sync();
                }
            }
            log.sync();
            if (random.nextBoolean()) {
                log.abandon();
            } else {
                log.close();
            }
        }
    }

    @Test
    void anothersFolderAndASecondUserAreRefused() {
        MulticastLog log = open(new ArrayList<>());
        assertThatThrownBy(() -> open(new ArrayList<>())).hasMessageContaining("in use");
        log.close();
        assertThatThrownBy(() ->
                        MulticastLog.open(
                                new LogOptions(folder, "prod", 7, true, 1 << 20, 0), r -> {}))
                .isInstanceOfSatisfying(
                        LogException.class,
                        e -> assertThat(e.reason()).isEqualTo(LogException.Reason.REFUSED))
                .hasMessageContaining(
                        "replica 7 of cluster 'test', not to replica 7 of cluster 'prod'");
        open(new ArrayList<>()).close();
    }

    @Test
    void newerFormatIsRefused() throws IOException {
        open(new ArrayList<>()).close();
        try (FileChannel channel = FileChannel.open(segment(1), StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.wrap(new byte[] {9}), 8);
        }
        assertThatThrownBy(() -> open(new ArrayList<>())).hasMessageContaining("log format 9");
    }

    @Test
    void failedWriteIsFinal() {
        MulticastLog log = open(new ArrayList<>());
        accept(log, 1, 1, "a");
        log.abandon();
        assertThatThrownBy(log::sync)
                .isInstanceOfSatisfying(
                        LogException.class,
                        e -> assertThat(e.reason()).isEqualTo(LogException.Reason.IO))
                .hasMessageContaining("MiB free");
    }

    private static void flip(Path file, long at) throws IOException {
        try (FileChannel channel =
                FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ByteBuffer one = ByteBuffer.allocate(1);
            channel.read(one, at);
            one.put(0, (byte) (one.get(0) ^ 0x55)).flip();
            channel.write(one, at);
        }
    }

    /** Its files can still be written, but a restart would not find what is in them. */
    @Test
    void nothingIsCalledDurableInAFolderThatIsNotThereAnyMore() throws Exception {
        Path there = folder.resolve("log");
        MulticastLog log =
                MulticastLog.open(new LogOptions(there, "test", 7, true, 1 << 20, 0), record -> {});
        accept(log, 1, 1, "a");
        log.sync();
        Files.move(there, folder.resolve("elsewhere"));
        accept(log, 1, 2, "b");
        // It does not look each time.
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() ->
                        assertThatThrownBy(log::sync)
                                .isInstanceOf(LogException.class)
                                .hasMessageContaining("was removed, renamed or replaced")
                                .hasMessageContaining("start the process again"));
        log.abandon();
    }
}
