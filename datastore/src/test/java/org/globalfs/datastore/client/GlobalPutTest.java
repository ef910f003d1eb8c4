package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A block that is spread over all regions and acknowledged survives the loss of any one of them,
 * whatever was away or full while it was written.
 */
@Timeout(180)
class GlobalPutTest {
    private static final int GLOBAL = 0;

    @TempDir Path folder;
    private final Random random = new Random(3);
    private final Map<BlockRef, byte[]> blocks = new LinkedHashMap<>();
    private StorageCluster cluster;

    @BeforeEach
    void start() throws IOException {
        cluster = StorageCluster.ofThreeRegions(folder);
    }

    @AfterEach
    void stop() throws IOException {
        cluster.close();
    }

    private void stopRegion(String region) throws IOException {
        cluster.stop(region + "-a", region + "-b", region + "-c");
    }

    private void startRegion(String region) throws IOException {
        for (String datacenter : new String[] {"a", "b", "c"}) {
            cluster.start(region + "-" + datacenter);
        }
    }

    /** One as large as to be coded, and one that is kept as copies. */
    private BlockRef putSome(DistributedBlockStore store) throws IOException {
        put(store, 5_000);
        return put(store, 200_000);
    }

    private BlockRef put(DistributedBlockStore store, int bytes) throws IOException {
        byte[] content = new byte[bytes];
        random.nextBytes(content);
        BlockRef ref = store.put(GLOBAL, ByteBuffer.wrap(content));
        blocks.put(ref, content);
        return ref;
    }

    private void assertReadable() throws IOException {
        try (DistributedBlockStore fresh = cluster.client()) {
            for (Map.Entry<BlockRef, byte[]> entry : blocks.entrySet()) {
                byte[] content = entry.getValue();
                assertThat(fresh.get(entry.getKey(), 0, content.length).array()).isEqualTo(content);
            }
        }
    }

    @Test
    void anotherRegionMayBeLostAfterAWriteWithoutOne() throws IOException {
        try (DistributedBlockStore store = cluster.client()) {
            assertThat(putSome(store).getDataChunks()).isEqualTo((byte) 6);
            stopRegion("south");
            assertThat(putSome(store).getDataChunks()).isEqualTo((byte) 3);
            assertThat(putSome(store).getDataChunks()).isEqualTo((byte) 3);
        }
        stopRegion("east");
        startRegion("south"); // empty of what was written without it
        assertReadable();
    }

    @Test
    void anotherRegionMayBeLostAfterAWriteWhileOneWasFull() throws IOException {
        stopRegion("south");
        cluster.capacityBytes = 1;
        startRegion("south");
        try (DistributedBlockStore store = cluster.client()) {
            assertThat(putSome(store).getDataChunks()).isEqualTo((byte) 3);
            assertThat(putSome(store).getDataChunks()).isEqualTo((byte) 3);
        }
        stopRegion("west");
        assertReadable();
    }

    @Test
    void withASingleRegionAWriteWaitsForAnotherAndFailsWithoutOne() throws IOException {
        stopRegion("south");
        stopRegion("east");
        try (DistributedBlockStore hasty =
                new DistributedBlockStore(
                        StorageCluster.CLUSTER,
                        "west",
                        cluster.discovery,
                        cluster.epochs,
                        500,
                        2_000)) {
            assertThatThrownBy(() -> putSome(hasty))
                    .isInstanceOfSatisfying(
                            BlockStoreException.class,
                            e ->
                                    assertThat(e.reason())
                                            .isEqualTo(BlockStoreException.Reason.UNREACHABLE))
                    .hasMessageContaining("of any region");
        }
        try (DistributedBlockStore store = cluster.client();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            CompletableFuture<BlockRef> put =
                    CompletableFuture.supplyAsync(
                            () -> {
                                try {
                                    return put(store, 200_000);
                                } catch (IOException e) {
                                    throw new CompletionException(e);
                                }
                            },
                            threads);
            await().until(() -> store.isSuspect("east-a"));
            assertThat(put).isNotDone();
            startRegion("east");
            assertThat(put).succeedsWithin(Duration.ofSeconds(40));
        }
        stopRegion("west");
        startRegion("south");
        assertReadable();
    }

    @Test
    void aNodeThatIsAwayIsStoodInForInItsRegion() throws IOException {
        cluster.stop("south-b", "east-c");
        try (DistributedBlockStore store = cluster.client()) {
            assertThat(putSome(store).getDataChunks()).isEqualTo((byte) 6);
        }
        stopRegion("west");
        assertReadable();
    }
}
