package org.globalfs.multicast.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.globalfs.multicast.Entry;
import org.globalfs.multicast.Membership;
import org.globalfs.multicast.MulticastOptions;
import org.globalfs.multicast.core.Ballot;
import org.globalfs.multicast.core.Batch;
import org.globalfs.multicast.core.LogRecord;
import org.globalfs.multicast.core.PersistedState;
import org.globalfs.multicast.log.LogOptions;
import org.globalfs.multicast.log.MulticastLog;
import org.globalfs.multicast.log.StoredRecord;
import org.globalfs.multicast.wire.LogCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecoveredRingsTest {
    @TempDir Path folder;

    @Test
    void recoversWhatTheCoreWouldReplay() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        for (int round = 0; round < 40; round++) {
            LogOptions options =
                    new LogOptions(folder.resolve("" + round), "test", 1, false, 1 << 20, 0);
            PersistedState.Replay replay = new PersistedState.Replay();
            MulticastLog log = MulticastLog.open(options, r -> {});
            LogCodec codec = new LogCodec();
            for (LogRecord record : records(random)) {
                codec.append(log, 3, record);
                replay.add(record);
            }
            log.close();
            RecoveredRings recovered = new RecoveredRings();
            MulticastLog.open(options, recovered::add).close();
            PersistedState expected = replay.state();
            PersistedState found = recovered.state(3);
            assertThat(found.accepted()).as("seed %s", seed).hasSameSizeAs(expected.accepted());
            assertThat(found.toString().replaceAll("\\[B@[0-9a-f]+|\\[I@[0-9a-f]+", ""))
                    .as("seed %s", seed)
                    .isEqualTo(expected.toString().replaceAll("\\[B@[0-9a-f]+|\\[I@[0-9a-f]+", ""));
            assertThat(recovered.state(4)).isEqualTo(PersistedState.FRESH);
        }
    }

    @Test
    void takesForDecidedWhatTheLogTrimmed() {
        LogOptions options = new LogOptions(folder, "test", 1, true, 64 << 10, 0);
        MulticastLog log = MulticastLog.open(options, r -> {});
        LogCodec codec = new LogCodec();
        Random random = new Random(1);
        Ballot ballot = new Ballot(1, 1);
        codec.append(log, 3, new LogRecord.Opened(ballot, 1));
        for (int instance = 1; instance <= 30; instance++) {
            codec.append(log, 3, new LogRecord.Accepted(instance, ballot, batch(random, instance)));
        }
        log.checkpointed(3, 30);
        log.checkpointed(4, Long.MAX_VALUE);
        for (int instance = 1; log.firstAvailable(3) == 1; instance++) {
            codec.append(log, 4, new LogRecord.Accepted(instance, ballot, batch(random, instance)));
        }
        log.sync();
        log.abandon();
        RecoveredRings recovered = new RecoveredRings();
        MulticastLog.open(options, recovered::add).close();
        assertThat(recovered.state(3).decided()).isEqualTo(30);
        assertThat(recovered.state(3).opened()).isEqualTo(ballot);
    }

    /** The process stopped between the decision's record and the one that outlives trimming. */
    @Test
    void membershipThatOnlyADecisionTellsIsNotedAtTheNextStart() {
        LogOptions options = new LogOptions(folder, "test", 1, true, 1 << 20, 0);
        List<Membership.Member> members = Membership.initial(new int[] {1, 2, 4}).members();
        Membership next = new Membership(1, members);
        MulticastLog log = MulticastLog.open(options, r -> {});
        new LogCodec().append(log, 3, new LogRecord.Chosen(1, Batch.of(new Entry.Members(next))));
        log.close();

        MulticastOptions node =
                new MulticastOptions(
                        "test",
                        1,
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        Map.of(),
                        Map.of(3, List.of(1, 2, 3)),
                        -1,
                        folder,
                        true,
                        1 << 20,
                        0);
        for (int start = 0; start < 2; start++) {
            LogFolder.Opened opened = LogFolder.open(node, Map.of(3, new RecordingLearner()));
            assertThat(opened.rings().state(3).membership()).isEqualTo(next);
            opened.log().close();
        }
        List<StoredRecord> recovered = new ArrayList<>();
        MulticastLog.open(options, recovered::add).close();
        assertThat(recovered)
                .filteredOn(record -> record.kind() == StoredRecord.MEMBERS)
                .isNotEmpty()
                .allSatisfy(record -> assertThat(LogCodec.membership(record)).isEqualTo(next));
    }

    /**
     * Records as a core emits them: ballots and timestamps grow, what is decided covers its
     * timestamps.
     */
    private static List<LogRecord> records(Random random) {
        List<LogRecord> records = new ArrayList<>();
        Ballot ballot = new Ballot(1, 2);
        long decided = 0;
        long clock = 1000;
        for (int i = 0; i < 200; i++) {
            switch (random.nextInt(8)) {
                case 0 -> {
                    ballot = new Ballot(ballot.round() + 1, random.nextInt(9) + 1);
                    records.add(new LogRecord.Promised(ballot));
                }
                case 1 ->
                        records.add(new LogRecord.Opened(ballot, decided + 1 + random.nextInt(3)));
                case 2 -> {
                    decided += random.nextInt(3);
                    records.add(new LogRecord.DecidedThrough(decided, clock));
                }
                case 3 -> {
                    records.add(new LogRecord.DecidedThrough(decided, clock));
                    records.add(new LogRecord.Chosen(++decided, batch(random, ++clock)));
                }
                default ->
                        records.add(
                                new LogRecord.Accepted(
                                        decided + 1 + random.nextInt(6),
                                        ballot,
                                        batch(random, ++clock)));
            }
        }
        return records;
    }

    private static Batch batch(Random random, long timestamp) {
        byte[] value = new byte[random.nextInt(50)];
        random.nextBytes(value);
        return new Batch(
                List.of(
                        new Entry.Import(timestamp),
                        new Entry.Command(timestamp, value, new int[] {1, 2})));
    }
}
