package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Blocks that are spread over three regions, read from one of them. */
@Timeout(120)
class NearestReadTest {
    private static final int GLOBAL = 0;
    private static final Map<String, Long> MS = Map.of("west", 0L, "east", 70L, "south", 140L);

    @TempDir Path folder;
    private final Random random = new Random(4711);
    private StorageCluster cluster;
    private DistributedBlockStore store;

    @BeforeEach
    void start() throws IOException {
        cluster = StorageCluster.ofThreeRegions(folder);
        store =
                new DistributedBlockStore(
                        StorageCluster.CLUSTER,
                        "west",
                        cluster.discovery,
                        cluster.epochs,
                        new BlockClientContext.Options(
                                TimeUnit.SECONDS.toNanos(15), TimeUnit.SECONDS.toNanos(30), 8),
                        site -> TimeUnit.MILLISECONDS.toNanos(MS.getOrDefault(site.region(), 0L)));
    }

    @AfterEach
    void stop() throws IOException {
        store.close();
        cluster.close();
    }

    private Map<BlockRef, byte[]> putSome() throws IOException {
        Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
        for (int size : new int[] {1, 5_000, 70_000, 300_000, 300_001, 1_000_000}) {
            for (int i = 0; i < 4; i++) {
                byte[] content = new byte[size];
                random.nextBytes(content);
                blocks.put(store.put(GLOBAL, ByteBuffer.wrap(content)), content);
            }
        }
        return blocks;
    }

    private void readAll(Map<BlockRef, byte[]> blocks) throws IOException {
        for (Map.Entry<BlockRef, byte[]> entry : blocks.entrySet()) {
            byte[] content = entry.getValue();
            for (int i = 0; i < 5; i++) {
                int from = i == 0 ? 0 : random.nextInt(content.length);
                int to = i == 0 ? content.length : from + random.nextInt(content.length - from);
                assertThat(store.get(entry.getKey(), from, to - from).array())
                        .isEqualTo(Arrays.copyOfRange(content, from, to));
            }
        }
    }

    private String[] nodes(String region) {
        List<String> ids = new ArrayList<>();
        for (StorageNode node : cluster.running()) {
            if (node.id().startsWith(region)) {
                ids.add(node.id());
            }
        }
        return ids.toArray(String[]::new);
    }

    @Test
    void farRegionsAreNotAskedWhileNearOnesHaveEnough() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome();
        String[] far = nodes("south");
        assertThat(far).hasSize(3);
        cluster.stop(far);
        readAll(blocks);
        assertThat(far).noneMatch(store::isSuspect); // nobody asked them, or they would be
    }

    @Test
    void farRegionsAreAskedWhenNearOnesLackChunks() throws IOException {
        Map<BlockRef, byte[]> blocks = putSome();
        cluster.stop("east-a", "west-b");
        readAll(blocks);
        cluster.start("east-a");
        cluster.start("west-b");
        cluster.stop(nodes("west"));
        readAll(blocks);
    }

    @Test
    void aRegionMayBeLostWhileBlocksAreWritten() throws IOException {
        String[] lost = nodes("east");
        cluster.stop(lost);
        Map<BlockRef, byte[]> blocks = putSome();
        readAll(blocks);
        for (String node : lost) {
            cluster.start(node);
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> cluster.handoffs() == 0);
        cluster.stop(nodes("west"));
        readAll(blocks);
    }

    @Test
    void distancesAreMeasuredOnceSomebodyAsks() throws IOException {
        NodeDirectory directory = new NodeDirectory(cluster.discovery, cluster.epochs);
        try (FailureDetector detector =
                        new FailureDetector(StorageCluster.CLUSTER, directory, () -> {}, 30_000);
                RegionDistances distances =
                        new RegionDistances(StorageCluster.CLUSTER, "west", directory, detector)) {
            for (StorageSite site : directory.newest(GLOBAL).nodes()) {
                if (site.region().equals("west")) {
                    assertThat(distances.ns(site)).isZero();
                } else {
                    await().atMost(Duration.ofSeconds(30))
                            .until(() -> distances.ns(site) < TimeUnit.SECONDS.toNanos(1));
                }
            }
        }
    }
}
