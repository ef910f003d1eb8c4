package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.globalfs.client.vfs.TestClient.bytes;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Quotas as a client's users meet them. */
class QuotasTest {

    private static final byte[] ALL = bytes("user.globalfs.quota");
    private static final byte[] INODES = bytes("user.globalfs.quota.inodes");

    @TempDir Path folder;

    private FakeCluster cluster;
    private TestClient one;
    private TestClient two;
    private long top;
    private long home;

    @BeforeEach
    void begin() throws FsException {
        cluster = new FakeCluster(folder, 1);
        cluster.leaseMs = 5_000;
        FakeBlockStore blocks = new FakeBlockStore();
        one = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        two = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        top = one.mkdir(FileSystem.ROOT, "top");
        home = one.mkdir(top, "home");
    }

    @AfterEach
    void end() {
        one.close();
        two.close();
        cluster.close();
    }

    private void set(long ino, byte[] name, String value) throws FsException {
        one.fs.setXattr(one.caller(), ino, name, bytes(value), 0);
    }

    private List<QuotaUsage> show(TestClient client, long ino) throws FsException {
        byte[] text = client.fs.getXattr(client.caller(), ino, ALL);
        return new String(text, StandardCharsets.UTF_8).lines().map(QuotaUsage::parse).toList();
    }

    @Test
    void attributesSetAndTell() throws FsException {
        set(top, ALL, "bytes=1000000 inodes=50");
        // Nobody counts here what was there before.
        home = one.mkdir(top, "inner");
        set(home, INODES, "7");
        QuotaUsage inner = new QuotaUsage(home, 0, 0, 7, 1, false, "");
        assertThat(show(two, home)).hasSize(2).startsWith(inner);
        assertThat(two.fs.getXattr(two.caller(), home, INODES)).isEqualTo(bytes("7"));
        assertThat(one.fs.listXattr(one.caller(), home)).isEmpty();
        assertThat(two.fs.quotas(two.caller()))
                .extracting(QuotaUsage::path)
                .containsExactlyInAnyOrder("/top", "/top/inner");
        one.fs.removeXattr(one.caller(), home, ALL);
        assertThat(show(one, home)).hasSize(1);
        assertThatThrownBy(() -> one.fs.getXattr(one.caller(), home, INODES))
                .hasMessageContaining("ENODATA");
        assertThatThrownBy(() -> set(home, ALL, "blocks=5")).hasMessageContaining("EINVAL");
        assertThatThrownBy(() -> set(home, INODES, "many")).hasMessageContaining("EINVAL");
        one.uid = 1000;
        assertThatThrownBy(() -> set(home, ALL, "bytes=5")).hasMessageContaining("EPERM");
    }

    @Test
    void theRootsQuotaCountsWhatIsEverybodys() throws FsException {
        set(FileSystem.ROOT, ALL, "bytes=8192 inodes=2");
        one.put(FileSystem.ROOT, "file", "x".repeat(4096));
        assertThatThrownBy(() -> two.put(FileSystem.ROOT, "other", "x"))
                .hasMessageContaining("EDQUOT");
        long mine = two.mkdir(FileSystem.ROOT, "mine");
        assertThatThrownBy(() -> show(two, mine)).hasMessageContaining("ENODATA");
        assertThat(two.fs.quotas(two.caller()))
                .containsExactly(new QuotaUsage(FileSystem.ROOT, 8192, 4096, 2, 2, true, "/"));
        StatFs whole = two.fs.statFs(two.caller(), FileSystem.ROOT);
        assertThat(whole.blocks()).isEqualTo(2);
        assertThat(whole.blocksAvailable()).isEqualTo(1);
        assertThat(whole.filesFree()).isZero();
    }

    @Test
    void aCommitThatIsRefusedIsToldAndTheFileGoesOnOnceThereIsRoom() throws FsException {
        set(home, ALL, "bytes=8192");
        two.put(home, "other", "x".repeat(5000));
        TestClient.Open file = one.create(home, "file");
        one.write(file, 0, bytes("y".repeat(5000)));
        assertThatThrownBy(() -> one.flush(file)).hasMessageContaining("EDQUOT");
        one.write(file, 0, bytes("z".repeat(3000)));
        one.flush(file);
        assertThat(two.stat(file.ino()).size()).isEqualTo(3000);
        two.fs.unlink(two.caller(), home, bytes("other"));
        one.write(file, 3000, bytes("w".repeat(5000)));
        one.close(file);
        assertThat(new String(two.content(file.ino()), StandardCharsets.UTF_8))
                .isEqualTo("z".repeat(3000) + "w".repeat(5000));
    }

    @Test
    void statfsTellsTheTightestQuota() throws FsException {
        set(top, ALL, "bytes=40960 inodes=10");
        home = one.mkdir(top, "inner");
        set(home, ALL, "bytes=409600");
        one.put(home, "file", "x".repeat(4096));
        StatFs tree = two.fs.statFs(two.caller(), home);
        assertThat(tree.blocks()).isEqualTo(100);
        assertThat(tree.blocksAvailable()).isEqualTo(9);
        assertThat(tree.files()).isEqualTo(10);
        assertThat(one.fs.statFs(one.caller(), FileSystem.ROOT).files()).isGreaterThan(1000);
    }
}
