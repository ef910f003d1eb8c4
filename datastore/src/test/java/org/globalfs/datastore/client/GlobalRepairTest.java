package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.globalfs.datastore.node.RepairOptions;
import org.globalfs.datastore.node.StorageNode;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Blocks that are spread over all regions are complete again after a node of any is lost. */
@Timeout(180)
class GlobalRepairTest {
    private static final Duration LIMIT = Duration.ofSeconds(90);
    private static final int GLOBAL = 0;
    private static final int BLOCKS = 12;

    @TempDir Path folder;
    private final Random random = new Random(16);
    private final Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
    private StorageCluster cluster;
    private DistributedBlockStore store;

    @BeforeEach
    void start() throws IOException {
        cluster = StorageCluster.ofThreeRegions(folder);
        cluster.repairs = new RepairOptions(1_000, Long.MAX_VALUE, 300);
        List<String> ids = new ArrayList<>();
        cluster.running().forEach(node -> ids.add(node.id()));
        for (String id : ids) {
            cluster.stop(id);
            cluster.start(id);
        }
        store = cluster.client();
        for (int i = 0; i < BLOCKS; i++) {
            byte[] content = new byte[1 + random.nextInt(200_000)];
            random.nextBytes(content);
            blocks.put(store.put(GLOBAL, ByteBuffer.wrap(content)), content);
        }
    }

    @AfterEach
    void stop() throws IOException {
        store.close();
        cluster.close();
    }

    /** How many chunks the running nodes of each region have. */
    private Map<String, Integer> held() throws IOException {
        Map<String, Integer> held = new HashMap<>();
        for (StorageNode node : cluster.running()) {
            try (StorageConnection connection =
                    new StorageConnection(
                            node.address(), StorageCluster.CLUSTER, node.id(), 10_000)) {
                String region = node.id().substring(0, node.id().indexOf('-'));
                held.merge(region, connection.list(null, 10_000).size(), Integer::sum);
            }
        }
        return held;
    }

    @Test
    void itsRegionMakesItsChunksAnew() throws IOException {
        Map<String, Integer> before = held();
        for (String lost : List.of("south-b", "east-a", "west-c")) {
            cluster.stop(lost);
            // In the same region: all of another one may be lost then as before.
            await().atMost(LIMIT).untilAsserted(() -> assertThat(held()).isEqualTo(before));
        }
        for (Map.Entry<BlockRef, byte[]> entry : blocks.entrySet()) {
            byte[] content = entry.getValue();
            assertThat(store.get(entry.getKey(), 0, content.length).array()).isEqualTo(content);
        }
    }
}
