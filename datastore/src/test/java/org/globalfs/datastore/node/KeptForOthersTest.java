package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.ChunkShape;
import org.globalfs.datastore.wire.ChunkStatus;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.StorageSite;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Chunks that a node keeps for another, which may never come back. */
@Timeout(60)
class KeptForOthersTest {
    private static final HostPort ANY = new HostPort("127.0.0.1", 0);

    @TempDir Path folder;

    @Test
    void whatIsKeptForANodeThatIsGoneForGoodIsNotToBeReturned() throws IOException {
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
        StorageNode.Options options =
                new StorageNode.Options("c", "n", "west", 1, "a", ANY, folder, 0);
        try (StorageNode node =
                StorageNode.start(
                        options,
                        discovery,
                        epochs,
                        ScrubOptions.NEVER,
                        RepairOptions.NEVER,
                        ChunkSource.NONE)) {
            try (StorageConnection connection =
                    new StorageConnection(node.address(), "c", "n", 10_000)) {
                ChunkShape shape = new ChunkShape(4_000, 1, 4, 2, 1);
                ChunkKey key = new ChunkKey(1, 2, 3);
                assertThat(connection.put(key, shape, "away", new byte[1_024], 0, 1_024))
                        .isEqualTo(ChunkStatus.OK);
                var _ = epochs.join(new StorageSite("away", "west", 1, "b", ANY, 1));
                assertThat(connection.statistics().handoffChunks()).isEqualTo(1);
                var _ = epochs.change(epoch -> epoch.drain("away"));
                assertThat(connection.statistics().handoffChunks()).isZero();
                assertThat(node.statistics().handoffChunks()).isZero();
                assertThat(node.statistics().chunks()).isEqualTo(1);
            }
        }
    }
}
