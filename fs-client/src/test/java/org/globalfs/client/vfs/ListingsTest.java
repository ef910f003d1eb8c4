package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.globalfs.client.vfs.TestClient.bytes;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.protocol.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Names of a directory that are looked up one by one: a listing answers most of them. What was
 * listed is known until it changes, and what will be listed is asked for ahead.
 */
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
        return absent(far, name);
    }

    private boolean absent(TestClient client, String name) throws FsException {
        try {
            return client.fs.lookup(client.caller(), home, bytes(name)).stat() == null;
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
    void whatWasListedIsAskedForAgainOnceItHasChanged() throws FsException {
        plant(20);
        assertThat(far.list(home, 7)).hasSize(20);
        int before = cluster.reads.get();
        assertThat(far.list(home, 7)).hasSize(20).startsWith("f0").endsWith("f19");
        assertThat(far.list(home, 100)).hasSize(20);
        assertThat(cluster.reads.get()).as("nobody was asked").isEqualTo(before);
        near.put(home, "theirs", "new");
        assertThat(far.list(home, 7)).hasSize(21).contains("theirs");
        far.put(home, "mine", "new");
        assertThat(far.list(home, 7)).hasSize(22).contains("mine");
        far.fs.unlink(far.caller(), home, bytes("f3"));
        assertThat(far.list(home, 7)).hasSize(21).doesNotContain("f3");
        near.fs.rename(near.caller(), home, bytes("f4"), home, bytes("f5"), 0);
        assertThat(far.list(home, 7)).hasSize(20).doesNotContain("f4");
    }

    /** Whoever lists after a change was acknowledged sees it, and no other. */
    @Test
    void aListingIsNeverStale() throws FsException {
        Random random = new Random(7);
        Set<String> names = new HashSet<>();
        for (int step = 0; step < 1_500; step++) {
            TestClient client = random.nextBoolean() ? near : far;
            String name = "f" + random.nextInt(12);
            switch (random.nextInt(5)) {
                case 0 -> {
                    if (names.add(name)) {
                        client.put(home, name, "some");
                    }
                }
                case 1 -> {
                    if (names.remove(name)) {
                        client.fs.unlink(client.caller(), home, bytes(name));
                    }
                }
                case 2 -> {
                    String other = "f" + random.nextInt(12);
                    if (names.contains(name) && !name.equals(other)) {
                        client.fs.rename(client.caller(), home, bytes(name), home, bytes(other), 0);
                        names.remove(name);
                        names.add(other);
                    }
                }
                default ->
                        assertThat(client.list(home, 1 + random.nextInt(15)))
                                .as("step " + step)
                                .containsExactlyInAnyOrderElementsOf(names);
            }
        }
    }

    private List<Long> plantDirectories(int count) throws FsException {
        List<Long> directories = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long directory = near.mkdir(home, "d" + i);
            near.put(directory, "in" + i, "some");
            directories.add(directory);
        }
        return directories;
    }

    @Test
    void whoListsDirectoriesOneAfterTheOtherFindsThemListed() throws FsException {
        List<Long> directories = plantDirectories(40);
        far.list(home, 1_000);
        int before = cluster.reads.get();
        for (int i = 0; i < directories.size(); i++) {
            assertThat(far.list(directories.get(i), 10)).containsExactly("in" + i);
        }
        assertThat(cluster.reads.get() - before).as("each once").isEqualTo(directories.size());
        assertThat(far.fs.counters()).containsEntry("directoriesAskedAhead", 39L);
        near.put(directories.get(20), "more", "some");
        assertThat(far.list(directories.get(20), 10)).containsExactly("in20", "more");
    }

    @Test
    void whoMayNotListADirectoryDoesNotThoughItWasAskedForAhead() throws FsException {
        List<Long> directories = plantDirectories(3);
        near.set(directories.get(1), SetAttributes.MODE, 0700, FileSystem.NO_HANDLE);
        far.uid = 1000;
        far.list(home, 1_000);
        assertThat(far.list(directories.get(0), 10)).containsExactly("in0");
        GlobalFileSystemTest.assertFails(Errno.EACCES, () -> far.list(directories.get(1), 10));
        assertThat(far.list(directories.get(2), 10)).containsExactly("in2");
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

    /** Or else each file that is made there would first be asked for. */
    @Test
    void atHomeTheNamesThatAreNotThereAreKnownAfterSome() throws FsException {
        plant(10);
        TestClient neighbour = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        try (neighbour) {
            int before = cluster.reads.get();
            for (int i = 0; i < 20; i++) {
                assertThat(absent(neighbour, "absent" + i)).isTrue();
            }
            assertThat(cluster.reads.get() - before).as("four, and the listing").isEqualTo(5);
            near.put(home, "absent7", "not any more");
            assertThat(neighbour.content(neighbour.lookup(home, "absent7")))
                    .isEqualTo(bytes("not any more"));
        }
    }

    @Test
    void atHomeADirectoryOfMorePagesIsNotListedAgainAndAgain() throws FsException {
        plant(700);
        TestClient neighbour = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        try (neighbour) {
            int before = cluster.reads.get();
            for (int i = 0; i < 100; i++) {
                assertThat(absent(neighbour, "absent" + i)).isTrue();
            }
            assertThat(cluster.reads.get() - before).isBetween(101, 106);
        }
    }

    /** As with C libraries that read 2 KiB of a directory at a time, of which 4 are asked for. */
    @Test
    void whatTheKernelCouldNotPassOnIsNotAskedForAgain() throws FsException {
        plant(700);
        int before = cluster.reads.get();
        assertThat(far.list(home, 20, 10, name -> {})).hasSize(700).doesNotHaveDuplicates();
        assertThat(cluster.reads.get() - before).as("two pages").isLessThan(10);
    }

    /** Each gets a new place in the directory, behind all others. */
    @Test
    void whoRenamesWhatHeReadsComesToAnEnd() throws FsException {
        plant(700);
        List<String> names =
                near.list(
                        home,
                        20,
                        20,
                        name ->
                                near.fs.rename(
                                        near.caller(),
                                        home,
                                        bytes(name),
                                        home,
                                        bytes("renamed " + name),
                                        0));
        assertThat(names).hasSize(700).noneMatch(name -> name.startsWith("renamed"));
        assertThat(near.list(home, 20)).hasSize(700).allMatch(name -> name.startsWith("renamed"));
    }
}
