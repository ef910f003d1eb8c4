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

    private void flip(String node, int... offsets) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> segments =
                Files.newDirectoryStream(cluster.folder(node), "segment-*")) {
            segments.forEach(files::add);
        }
        try (FileChannel channel =
                FileChannel.open(
                        files.getFirst(), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
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
}
