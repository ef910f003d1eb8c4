package org.globalfs.multicast.log;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.core.Ballot;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.wire.LogCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The golden segment was written by the first release: it must be readable, and written again, for
 * ever.
 */
class LogFormatTest {
    private static final String GOLDEN = "golden/multicast-log-2.bin";
    private static final Ballot BALLOT = new Ballot(3, 2);

    @TempDir Path folder;

    private static final Batch BATCH =
            new Batch(
                    List.of(
                            new Entry.Command(
                                    0x0102030405060708L,
                                    "value".getBytes(java.nio.charset.StandardCharsets.UTF_8),
                                    new int[] {0, 2}),
                            new Entry.Import(17),
                            new Entry.Noop()));

    private static final Membership MEMBERSHIP =
            new Membership(
                    3,
                    List.of(
                            new Membership.Member(1, true, ""),
                            new Membership.Member(9, false, "host:7")));

    private static List<LogRecord> records() {
        return List.of(
                new LogRecord.Promised(BALLOT),
                new LogRecord.Accepted(8, BALLOT, BATCH),
                new LogRecord.Opened(BALLOT, 8),
                new LogRecord.DecidedThrough(8, 99),
                new LogRecord.Chosen(9, BATCH),
                new LogRecord.StartAfter(20, 100, null),
                new LogRecord.VotesLost(77),
                new LogRecord.Members(30, MEMBERSHIP),
                new LogRecord.StartAfter(40, 101, MEMBERSHIP));
    }

    private LogOptions options() {
        return new LogOptions(folder, "golden", 2, true, 1 << 20, 0);
    }

    @Test
    void writesTheGoldenBytes() throws IOException {
        MulticastLog log = MulticastLog.open(options(), r -> {});
        LogCodec codec = new LogCodec();
        for (LogRecord record : records()) {
            codec.append(log, 1, record);
            log.sync();
        }
        log.abandon();
        byte[] segment = Files.readAllBytes(SegmentPreparer.fileOf(folder, 1));
        int end = segment.length;
        while (segment[end - 1] == 0) {
            end--;
        }
        byte[] written = Arrays.copyOf(segment, (end + 7) & ~7);
        assertThat(segment).hasSize(1 << 20);
        if (Boolean.getBoolean("globalfs.golden.write")) {
            Files.write(Path.of("src/test/resources").resolve(GOLDEN), written);
            return;
        }
        assertThat(written).isEqualTo(golden());
    }

    @Test
    void readsTheGoldenBytes() throws IOException {
        Files.write(SegmentPreparer.fileOf(folder, 1), Arrays.copyOf(golden(), 1 << 20));
        List<StoredRecord> found = new ArrayList<>();
        MulticastLog log = MulticastLog.open(options(), found::add);
        log.close();
        assertThat(found)
                .extracting(StoredRecord::kind)
                .containsExactly(
                        StoredRecord.PROMISED,
                        StoredRecord.ACCEPTED,
                        StoredRecord.OPENED,
                        StoredRecord.DECIDED_THROUGH,
                        StoredRecord.CHOSEN,
                        StoredRecord.START_AFTER,
                        StoredRecord.VOTES_LOST,
                        StoredRecord.MEMBERS,
                        StoredRecord.START_AFTER);
        assertThat(found).allMatch(r -> r.ring() == 1);
        assertThat(LogCodec.unpack(found.get(0).ballot())).isEqualTo(BALLOT);
        assertThat(LogCodec.batch(found.get(1))).usingRecursiveComparison().isEqualTo(BATCH);
        assertThat(LogCodec.timestamp(found.get(3))).isEqualTo(99);
        assertThat(LogCodec.startMembership(found.get(5))).isNull();
        assertThat(LogCodec.membership(found.get(7))).isEqualTo(MEMBERSHIP);
        assertThat(LogCodec.startMembership(found.get(8))).isEqualTo(MEMBERSHIP);
        assertThat(LogCodec.timestamp(found.get(8))).isEqualTo(101);
    }

    @Test
    void readsWhatVersion1Wrote() throws IOException {
        Files.write(
                SegmentPreparer.fileOf(folder, 1),
                Arrays.copyOf(golden("golden/multicast-log-1.bin"), 1 << 20));
        List<StoredRecord> found = new ArrayList<>();
        MulticastLog.open(options(), found::add).close();
        assertThat(found).hasSize(6);
        assertThat(LogCodec.batch(found.get(1))).isEqualTo(BATCH);
        assertThat(LogCodec.unpack(found.get(0).ballot())).isEqualTo(BALLOT);
    }

    @Test
    void recordIsAsDocumented() {
        ByteBuffer to = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
        new RecordFormat().encode(to, 1, 4096, 7, 64, 11, 12, out -> out.put(new byte[] {1, 2, 3}));
        assertThat(to.position()).isEqualTo(40);
        assertThat(to.getInt(4)).isEqualTo(3);
        assertThat(to.getInt(8)).isEqualTo(4096);
        assertThat(to.get(12)).isEqualTo((byte) 64);
        assertThat(to.getShort(14)).isEqualTo((short) 7);
        assertThat(to.getLong(16)).isEqualTo(11);
        assertThat(to.getLong(24)).isEqualTo(12);
        assertThat(to.get(32)).isEqualTo((byte) 1);
    }

    private static byte[] golden() throws IOException {
        return golden(GOLDEN);
    }

    private static byte[] golden(String name) throws IOException {
        try (InputStream in = LogFormatTest.class.getClassLoader().getResourceAsStream(name)) {
            assertThat(in).as(name).isNotNull();
            return in.readAllBytes();
        }
    }
}
