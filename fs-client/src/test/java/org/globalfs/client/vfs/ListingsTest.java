package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.globalfs.client.vfs.TestClient.bytes;

import java.nio.file.Path;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.protocol.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Names of a far directory that are looked up one by one: a listing answers most of them. */
class ListingsTest {

    @TempDir Path folder;

    private FakeCluster cluster;
    private FakeBlockStore blocks;
    private TestClient near;
    private TestClient far;
    private long home;

    @BeforeEach
    void begin() throws FsException {
        cluster = new FakeCluster(folder, 2);
        cluster.leaseMs = 5_000;
        blocks = new FakeBlockStore();
        near = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        far = new TestClient(cluster, blocks, 2, TestClient.SLOW_FLUSH);
        home = near.mkdir(FileSystem.ROOT, "home");
    }

    @AfterEach
    void end() {
        near.close();
        far.close();
        cluster.close();
    }

    private void plant(int files) throws FsException {
        for (int i = 0; i < files; i++) {
            near.put(home, "f" + i, "content of " + i);
        }
    }

    private void isAbsent(String name) {
        GlobalFileSystemTest.assertFails(Errno.ENOENT, () -> far.lookup(home, name));
    }

    /** Attributes that the cache may keep ask nobody. */
    private int readsOfLookups(int first, int end) throws FsException {
        int before = cluster.reads.get();
        for (int i = first; i < end; i++) {
            assertThat(far.lookup(home, "f" + i)).isNotZero();
        }
        return cluster.reads.get() - before;
    }

    @Test
    void theSecondNameBringsAllOthersAndWhichThereAreNot() throws FsException {
        plant(20);
        assertThat(readsOfLookups(0, 2)).isEqualTo(2);
        assertThat(readsOfLookups(2, 20)).isZero();
        int before = cluster.reads.get();
        for (int i = 0; i < 10; i++) {
            assertThat(absent("absent" + i)).isTrue();
        }
        assertThat(cluster.reads.get()).isEqualTo(before);
    }

    /** By ENOENT, or by an answer that the kernel may remember. */
    private boolean absent(String name) throws FsException {
        try {
            return far.fs.lookup(far.caller(), home, bytes(name)).stat() == null;
        } catch (FsException e) {
            if (e.errno() == Errno.ENOENT) {
                return true;
            }
            throw e;
        }
    }

    @Test
    void whatComesAndGoesAfterwardsIsSeen() throws FsException {
        plant(10);
        readsOfLookups(0, 10);
        near.put(home, "new", "new");
        near.fs.unlink(near.caller(), home, bytes("f3"));
        assertThat(far.content(far.lookup(home, "new"))).isEqualTo(bytes("new"));
        isAbsent("f3");
    }

    @Test
    void whereOneMayNotListNamesAreFoundOneByOne() throws FsException {
        plant(10);
        near.set(home, SetAttributes.MODE, 0711, FileSystem.NO_HANDLE);
        far.uid = 1000;
        readsOfLookups(0, 10);
        assertThat(absent("absent")).isTrue();
    }

    @Test
    void aDirectoryOfMorePagesIsNotListedAgainAndAgain() throws FsException {
        plant(700);
        int reads = readsOfLookups(600, 700);
        assertThat(reads).isBetween(100, 108);
        assertThat(readsOfLookups(0, 500)).as("what the first page said").isZero();
    }

    @Test
    void atHomeNamesAreAskedForOneByOne() throws FsException {
        plant(10);
        TestClient neighbour = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        try (neighbour) {
            int before = cluster.reads.get();
            for (int i = 0; i < 10; i++) {
                assertThat(neighbour.lookup(home, "f" + i)).isNotZero();
            }
            assertThat(cluster.reads.get() - before).isEqualTo(10);
        }
    }
}
