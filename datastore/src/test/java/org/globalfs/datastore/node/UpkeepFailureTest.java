package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.PassState;
import org.globalfs.datastore.wire.RepairProgress;
import org.globalfs.datastore.wire.ScrubProgress;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.StorageSite;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An index that says nothing any more: who waits for a pass is told, and the threads live on. */
@Timeout(120)
class UpkeepFailureTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final ChunkShape SHAPE = new ChunkShape(4_000, 1, 4, 2, 1);

    @TempDir Path folder;
    private SegmentStore store;

    @BeforeEach
    void open() throws IOException {
        store =
                SegmentStore.open(
                        folder,
                        new SegmentStore.Options("c", "n", Long.MAX_VALUE, 0, 8 << 20, true));
        for (int i = 0; i < 10; i++) {
            assertThat(store.put(new ChunkKey(1, i, 0), SHAPE, new byte[1_000]))
                    .isEqualTo(ChunkStatus.OK);
        }
    }

    @Test
    void aScrubThatCannotGoOnEndsAndSaysWhy() throws IOException {
        try (Scrub scrub = new Scrub(store, "n", ScrubOptions.NEVER, ChunkSource.NONE)) {
            ScrubProgress begun = scrub.begin(1);
            store.close();
            scrub.start();
            await().atMost(LIMIT).until(() -> scrub.progress().state() == PassState.ENDED);
            ScrubProgress end = scrub.progress();
            assertThat(end.unreadable()).isPositive();
            assertThat(end.totalBytes()).isEqualTo(begun.totalBytes());
            assertThat(end.readBytes()).isLessThan(end.totalBytes());
            assertThat(end.problems().getFirst()).contains("gave up");
        }
    }

    @Test
    void aRepairThatFailsEndsSaysWhyAndCanBeAskedForAgain() throws IOException {
        InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
        StorageSite site = new StorageSite("n", "west", 1, "a", new HostPort("127.0.0.1", 1), 1);
        epochs.join(site);
        Peers peers = new Peers("c", "n", 1, new InMemoryDiscovery(), 0);
        RepairOptions options = new RepairOptions(0, Long.MAX_VALUE, 0);
        store.close();
        try (Repair repair = new Repair(store, site, epochs, options, ChunkSource.NONE, peers)) {
            repair.start();
            for (long pass = 1; pass <= 2; pass++) {
                long awaited = repair.begin().pass() + 1;
                await().atMost(LIMIT)
                        .until(() -> {
                            RepairProgress now = repair.progress();
                            return now.pass() >= awaited && now.state() == PassState.ENDED;
                        });
                RepairProgress end = repair.progress();
                assertThat(end.unclear()).isPositive();
                assertThat(end.looked()).isLessThan(end.total());
                assertThat(end.problems().getFirst()).contains("failed");
            }
        }
    }
}
