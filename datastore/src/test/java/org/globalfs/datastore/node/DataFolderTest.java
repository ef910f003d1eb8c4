package org.globalfs.datastore.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.InMemoryPlacementEpochs;
import org.globalfs.protocol.discovery.Role;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFolderTest {
    @TempDir Path folder;

    private StorageNode start(String cluster, String id, int port) throws IOException {
        return StorageNode.start(
                new StorageNode.Options(
                        cluster,
                        id,
                        "west",
                        1,
                        "a",
                        new HostPort("127.0.0.1", port),
                        folder.resolve("data"),
                        0),
                new InMemoryDiscovery(),
                new InMemoryPlacementEpochs(),
                ScrubOptions.NEVER,
                RepairOptions.NEVER,
                ChunkSource.NONE);
    }

    @Test
    void folderBelongsToOneNodeOfOneCluster() throws IOException {
        start("one", "s1", 0).close();
        assertThatThrownBy(() -> start("two", "s1", 0))
                .hasMessageContaining("belongs to cluster one, not two")
                .hasMessageContaining("data");
        assertThatThrownBy(() -> start("one", "s2", 0))
                .hasMessageContaining("belongs to node s1, not s2");
        start("one", "s1", 0).close();
    }

    /** Whatever the umask, and whose the folder is that it is in. */
    @Test
    void aNewFolderIsItsOwnersAlone() throws IOException {
        start("one", "s1", 0).close();
        assertThat(Files.getPosixFilePermissions(folder.resolve("data")))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void folderInUseIsRefused() throws IOException {
        try (StorageNode node = start("one", "s1", 0)) {
            assertThatThrownBy(() -> start("one", "s1", 0)).hasMessageContaining("in use");
            assertThat(node.address().port()).isPositive();
        }
    }

    @Test
    void busyPortIsNamed() throws IOException {
        try (StorageNode node = start("one", "s1", 0)) {
            int port = node.address().port();
            Path other = folder.resolve("other");
            assertThatThrownBy(() ->
                            StorageNode.start(
                                    new StorageNode.Options(
                                            "one",
                                            "s2",
                                            "west",
                                            1,
                                            "a",
                                            new HostPort("127.0.0.1", port),
                                            other,
                                            0),
                                    new InMemoryDiscovery(),
                                    new InMemoryPlacementEpochs(),
                                    ScrubOptions.NEVER,
                                    RepairOptions.NEVER,
                                    ChunkSource.NONE))
                    .hasMessageContaining("s2 cannot listen on 127.0.0.1:" + port);
        }
    }

    @Test
    void startedNodeIsAnnounced() throws IOException {
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        InMemoryPlacementEpochs epochs = new InMemoryPlacementEpochs();
        try (StorageNode node =
                StorageNode.start(
                        new StorageNode.Options(
                                "one",
                                "s1",
                                "west",
                                1,
                                "a",
                                new HostPort("127.0.0.1", 0),
                                folder.resolve("data"),
                                1 << 30),
                        discovery,
                        epochs,
                        ScrubOptions.NEVER,
                        RepairOptions.NEVER,
                        ChunkSource.NONE)) {
            assertThat(discovery.members(Role.STORAGE)).hasSize(1);
            assertThat(discovery.members(Role.STORAGE).getFirst().address())
                    .isEqualTo(node.address());
            assertThat(epochs.newest().nodes()).hasSize(1);
        }
    }
}
