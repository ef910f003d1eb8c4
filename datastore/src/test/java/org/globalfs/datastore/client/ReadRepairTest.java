package org.globalfs.datastore.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.globalfs.datastore.wire.ChunkKey;
import org.globalfs.datastore.wire.StorageConnection;
import org.globalfs.protocol.Folders;
import org.globalfs.protocol.discovery.StorageSite;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadRepairTest {
    private static final int NO_CHUNK = 99;

    @TempDir Path folder;

    @Test
    void goesOnAfterAFailureThatNobodyForesaw() throws IOException {
        try (StorageCluster cluster = new StorageCluster(folder, 0);
                DistributedBlockStore store = cluster.client();
                ReadRepair repair =
                        new ReadRepair(
                                store,
                                StorageCluster.CLUSTER,
                                new NodeDirectory(cluster.discovery, cluster.epochs))) {
            byte[] content = new byte[100_000];
            BlockRef ref = store.put(StorageCluster.REGION, ByteBuffer.wrap(content));
            StorageSite home = store.homes(ref).getFirst();
            // A node that comes back with an empty disk lacks the chunk.
            cluster.stop(home.id());
            Path lost = cluster.folder(home.id());
            Folders.delete(lost);
            cluster.start(home.id());
            repair.offer(ref, List.of(NO_CHUNK));
            repair.offer(ref, List.of(0));
            try (StorageConnection connection =
                    new StorageConnection(
                            cluster.address(home.id()),
                            StorageCluster.CLUSTER,
                            home.id(),
                            10_000)) {
                ChunkKey key = new ChunkKey(ref.getIdHigh(), ref.getIdLow(), 0);
                await().atMost(Duration.ofSeconds(60)).until(() -> connection.has(key));
            }
            assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
        }
    }
}
