package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.globalfs.datastore.node.BadSectors;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damage on the disks of six real nodes that nobody reads from is found, and mended. */
class ScrubTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final List<String> NODES = List.of("a1", "a2", "b1", "b2", "c1", "c2");
    private static final int FIRST_RECORD = 4096;

    @TempDir Path folder;
    private final Random random = new Random(4711);
    private StorageCluster cluster;
    private DistributedBlockStore store;

    @BeforeEach
    void start() throws IOException {
        cluster = new StorageCluster(folder, 0);
        store = cluster.client();
    }

    @AfterEach
    void stop() throws IOException {
        store.close();
        cluster.close();
    }

    private BlockRef put(byte[] content) throws IOException {
        random.nextBytes(content);
        return store.put(StorageCluster.REGION, ByteBuffer.wrap(content));
    }

    /** Starts them again, as nodes that read all that they have many times a minute. */
    private void scrub(String... nodes) throws IOException {
        cluster.scrubPeriodMs = 2_000;
        for (String node : nodes) {
            cluster.stop(node);
            cluster.start(node);
        }
    }

    private Path segment(String node) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> segments =
                Files.newDirectoryStream(cluster.folder(node), "segment-*")) {
            segments.forEach(files::add);
        }
        return files.getFirst();
    }

    private void flip(String node, int... offsets) throws IOException {
        try (FileChannel channel =
                FileChannel.open(
                        segment(node), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            for (int offset : offsets) {
                ByteBuffer one = ByteBuffer.allocate(1);
                channel.read(one, offset);
                one.put(0, (byte) ~one.get(0));
                channel.write(one.flip(), offset);
            }
        }
    }

    private long corrupt(String node) throws IOException {
        return cluster.node(node).statistics().corruptChunks();
    }

    @Test
    void whatNobodyReadsIsReadAndMended() throws IOException {
        byte[] content = new byte[3_000_000];
        BlockRef ref = put(content);
        scrub("a1", "c2");
        Map<String, Long> before = new HashMap<>();
        for (String node : List.of("a1", "c2")) {
            before.put(node, cluster.node(node).statistics().usedBytes());
        }
        flip("a1", 300_000);
        flip("c2", FIRST_RECORD + 20); // in the record's header
        for (String node : List.of("a1", "c2")) {
            await().atMost(LIMIT)
                    .until(() -> cluster.node(node).statistics().usedBytes() > before.get(node));
            await().atMost(LIMIT).until(() -> corrupt(node) == 0);
        }
        List<String> others = new ArrayList<>(NODES);
        others.removeAll(List.of("a1", "c2"));
        cluster.stop(others.get(0), others.get(1));
        assertThat(store.get(ref, 0, content.length).array())
                .as("from four nodes, both mended ones among them")
                .isEqualTo(content);
    }

    @Test
    void whatCannotBeMendedStaysDamagedAndIsMendedOnceOthersAreBack() throws IOException {
        BlockRef ref = put(new byte[3_000_000]);
        cluster.stop("a1", "b1", "c1");
        scrub("a2");
        flip("a2", 300_000);
        await().atMost(LIMIT).until(() -> corrupt("a2") == 1);
        assertThat(store.homes(ref)).hasSize(6);
        for (String node : List.of("a1", "b1", "c1")) {
            cluster.start(node);
        }
        await().atMost(Duration.ofMinutes(3)).until(() -> corrupt("a2") == 0);
    }

    private StorageConnection connect(String node) throws IOException {
        return new StorageConnection(cluster.address(node), StorageCluster.CLUSTER, node, 10_000);
    }

    /** How a pass ends; on the way there it never goes back. */
    private static ScrubProgress ended(StorageConnection connection) throws IOException {
        ScrubProgress[] last = {connection.scrub()};
        await().atMost(LIMIT)
                .until(() -> {
                    ScrubProgress next = connection.scrub();
                    assertThat(next.pass()).isEqualTo(last[0].pass());
                    assertThat(next.readBytes()).isBetween(last[0].readBytes(), next.totalBytes());
                    assertThat(next.damaged()).isGreaterThanOrEqualTo(last[0].damaged());
                    last[0] = next;
                    return next.state() == PassState.ENDED;
                });
        return last[0];
    }

    @Test
    void allDamageIsFoundAndMendedOnDemand() throws IOException {
        byte[] content = new byte[3_000_000];
        List<BlockRef> refs = List.of(put(content), put(content), put(content));
        flip("b1", 300_000, 1_100_000, 1_900_000); // in three chunks
        try (StorageConnection connection = connect("b1")) {
            assertThat(connection.scrub()).isEqualTo(ScrubProgress.none(PassState.NONE));
            assertThat(connection.statistics().scrubPeriodMs()).isEqualTo(cluster.scrubPeriodMs);
            assertThat(connection.statistics().isScrubLate()).isFalse();
            ScrubProgress begun = connection.beginScrub(0);
            assertThat(begun.pass()).isEqualTo(1);
            assertThat(begun.state()).isEqualTo(PassState.RUNNING);
            assertThat(begun.totalBytes()).isEqualTo(connection.statistics().liveBytes());
            ScrubProgress end = ended(connection);
            assertThat(end.readBytes())
                    .isEqualTo(end.totalBytes())
                    .isEqualTo(begun.totalBytes())
                    .isPositive();
            assertThat(end.damaged()).isEqualTo(3);
            assertThat(end.mended()).isEqualTo(3);
            assertThat(end.left()).isZero();
            assertThat(end.unreadable()).isZero();
            assertThat(end.problems()).isEmpty();
            assertThat(connection.statistics().corruptChunks()).isZero();

            assertThat(connection.beginScrub(0).pass()).isEqualTo(2);
            assertThat(ended(connection).damaged()).as("on disk it is well").isZero();
        }
        cluster.stop("a1", "c1");
        assertThat(store.get(refs.getLast(), 0, content.length).array())
                .as("from four nodes, the mended one among them")
                .isEqualTo(content);
    }

    @Test
    void whatTheDiskDoesNotGiveIsWrittenAgain() throws IOException {
        BadSectors bad = new BadSectors();
        cluster.stop("b1");
        cluster.faults = id -> bad;
        cluster.start("b1");
        byte[] content = new byte[3_000_000];
        BlockRef ref = put(content);
        bad.add(segment("b1"), FIRST_RECORD);
        try (StorageConnection connection = connect("b1")) {
            connection.beginScrub(0);
            ScrubProgress end = ended(connection);
            assertThat(end.damaged()).isEqualTo(1);
            assertThat(end.mended()).isEqualTo(1);
            assertThat(end.left() + end.unreadable()).isZero();
            connection.beginScrub(0);
            assertThat(ended(connection).damaged()).as("elsewhere it can be read").isZero();
        }
        cluster.stop("a1", "c1");
        assertThat(store.get(ref, 0, content.length).array())
                .as("from four nodes, the mended one among them")
                .isEqualTo(content);
    }

    @Test
    void aPassThatRunsIsJoinedAndMayBeHurried() throws IOException {
        for (int i = 0; i < 3; i++) {
            put(new byte[1_000_000]);
        }
        try (StorageConnection connection = connect("a1");
                StorageConnection other = connect("a1")) {
            connection.beginScrub(1);
            await().atMost(LIMIT).until(() -> other.scrub().readBytes() > 0);
            ScrubProgress joined = other.beginScrub(0);
            assertThat(joined.pass()).isEqualTo(1);
            assertThat(joined.state()).isEqualTo(PassState.RUNNING);
            assertThat(joined.bytesPerSecond()).isEqualTo(1);
            assertThat(joined.readBytes()).isLessThan(joined.totalBytes());
            assertThat(other.beginScrub(1L << 40).pass()).isEqualTo(1);
            assertThat(ended(connection).pass()).isEqualTo(1);
        }
    }

    @Test
    void whatIsLeftIsSaidAndTriedAgainWhenAsked() throws IOException {
        put(new byte[3_000_000]);
        cluster.stop("a1", "b1", "c1");
        flip("a2", 300_000);
        try (StorageConnection connection = connect("a2")) {
            connection.beginScrub(0);
            ScrubProgress end = ended(connection);
            assertThat(end.damaged()).isEqualTo(1);
            assertThat(end.left()).isEqualTo(1);
            assertThat(end.problems()).singleElement().asString().contains("stays damaged");
            for (String node : List.of("a1", "b1", "c1")) {
                cluster.start(node);
            }
            await().atMost(Duration.ofMinutes(3))
                    .until(() -> {
                        connection.beginScrub(0);
                        return ended(connection).left() == 0;
                    });
        }
    }

    @Test
    void aNodeWithoutChunksIsThroughAtOnce() throws IOException {
        try (StorageConnection connection = connect("c2")) {
            connection.beginScrub(0);
            assertThat(ended(connection).totalBytes()).isZero();
        }
    }
}
