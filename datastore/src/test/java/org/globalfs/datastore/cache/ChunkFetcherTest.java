package org.globalfs.datastore.cache;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.datastore.cache.policy.ChunkLayout;
import org.globalfs.datastore.client.DistributedBlockStore;
import org.globalfs.datastore.node.SegmentStore;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChunkFetcherTest {
    /** More than it has threads. */
    private static final int ORDERS = 20;

    @TempDir Path folder;

    @Test
    void carriesOutOrdersAfterFailuresThatNobodyForesaw() throws IOException {
        AtomicInteger told = new AtomicInteger();
        DistributedBlockStore blocks =
                new DistributedBlockStore(
                        "c",
                        "west",
                        new InMemoryDiscovery(),
                        new InMemoryPlacementEpochs(),
                        1_000,
                        1_000);
        try (SegmentStore store =
                        SegmentStore.open(
                                folder,
                                new SegmentStore.Options(
                                        "c", "n", Long.MAX_VALUE, 0, 8 << 20, true));
                blocks;
                ChunkFetcher fetcher =
                        new ChunkFetcher(
                                "cache",
                                store,
                                blocks,
                                Long.MAX_VALUE,
                                (order, fetched, kept) -> told.incrementAndGet())) {
            fetcher.start();
            // No code has so many chunks.
            BlockRef impossible = new BlockRef(1, 2, 1_000, 1, (byte) -1, (byte) -1, 0);
            ChunkLayout layout = new ChunkLayout(1_000, 4, List.of(1, 1, 1, 1, 1, 1));
            for (int i = 0; i < ORDERS; i++) {
                fetcher.order(new ChunkFetcher.Order(impossible, layout, 1, 0));
            }
            await().atMost(Duration.ofSeconds(60)).until(() -> told.get() == ORDERS);
        }
    }
}
