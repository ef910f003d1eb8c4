package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** To whom the root of a new tree belongs. */
class RootClaimTest {
    @TempDir Path folder;

    private FakeCluster cluster;
    private TestClient client;

    @BeforeEach
    void begin() {
        cluster = new FakeCluster(folder, 1);
        client = new TestClient(cluster, new FakeBlockStore(), 1, TestClient.SLOW_FLUSH);
    }

    @AfterEach
    void end() {
        client.close();
        cluster.close();
    }

    private Stat root() throws FsException {
        return client.fs
                .getAttributes(client.caller(), FileSystem.ROOT, FileSystem.NO_HANDLE)
                .stat();
    }

    @Test
    void whoClaimsANewRootCanUseIt() throws FsException {
        client.uid = 1000;
        assertThatThrownBy(() -> client.mkdir(FileSystem.ROOT, "mine"))
                .hasMessageContaining("EACCES");
        RootClaim.claim(client.fs, 1000, 1000);
        client.mkdir(FileSystem.ROOT, "mine");
        assertThat(root().mode()).isEqualTo(Stat.DIRECTORY | 0755);
        assertThat(root().gid()).isEqualTo(1000);
        RootClaim.claim(client.fs, 1001, 1001);
        assertThat(root().uid()).isEqualTo(1000);
    }

    @Test
    void aRootThatWasUsedStaysItsOwners() throws FsException {
        client.mkdir(FileSystem.ROOT, "roots");
        RootClaim.claim(client.fs, 1000, 1000);
        assertThat(root().uid()).isEqualTo(0);
    }

    @Test
    void rootChangesNothing() throws FsException {
        RootClaim.claim(client.fs, 0, 5);
        assertThat(root().gid()).isEqualTo(0);
        assertThat(root().ctimeNs()).isEqualTo(0);
    }
}
