package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.globalfs.client.vfs.TestClient.bytes;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.protocol.Errno;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a far directory are asked for ahead, each once, and nothing stale comes of it. */
class DirectoryReadAheadTest {

    private static final int FILES = 60;

    @TempDir Path folder;

    private final List<Long> files = new ArrayList<>();
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
        for (int i = 0; i < FILES; i++) {
            near.put(home, "f" + i, content(i));
            files.add(near.lookup(home, "f" + i));
        }
    }

    @AfterEach
    void end() {
        near.close();
        far.close();
        cluster.close();
    }

    /** Every third one is long enough for a block. */
    private static String content(int file) {
        return ("content of " + file).repeat(file % 3 == 0 ? 2_000 : 1);
    }

    private static long askedAhead(TestClient client) {
        return Objects.requireNonNull(client.fs.counters().get("filesAskedAhead"));
    }

    private void readsRight(TestClient client, int file) throws FsException {
        assertThat(client.content(files.get(file))).as("f" + file).isEqualTo(bytes(content(file)));
    }

    @Test
    void theFirstOpenBringsTheNextFilesAndTheirContent() throws FsException {
        assertThat(far.list(home, 1_000)).hasSize(FILES);
        assertThat(askedAhead(far)).as("listing alone").isZero();
        readsRight(far, 0);
        assertThat(askedAhead(far)).isEqualTo(8);
        await().until(() -> blocks.gets.get() == 3);
    }

    @Test
    void inOrderEachFileIsAskedForOnce() throws FsException {
        far.list(home, 1_000);
        int before = cluster.reads.get();
        for (int i = 0; i < FILES; i++) {
            readsRight(far, i);
        }
        assertThat(cluster.reads.get() - before).isEqualTo(FILES);
        assertThat(askedAhead(far)).isEqualTo(FILES - 1);
        assertThat(blocks.gets.get()).isEqualTo(FILES / 3);
    }

    @Test
    void inAnyOrderNoFileIsAskedForTwice() throws FsException {
        far.list(home, 1_000);
        int before = cluster.reads.get();
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < FILES; i++) {
            order.add(i);
        }
        Collections.shuffle(order, new Random(11));
        for (int file : order) {
            readsRight(far, file);
        }
        assertThat(cluster.reads.get() - before).isEqualTo(FILES);
        assertThat(blocks.gets.get()).isEqualTo(FILES / 3);
    }

    /** Directories, each with so many files of a block. */
    private List<Long> plantDirectories(int directories, int filesInEach) throws FsException {
        List<Long> result = new ArrayList<>();
        for (int i = 0; i < directories; i++) {
            long directory = near.mkdir(home, "d" + i);
            for (int j = 0; j < filesInEach; j++) {
                near.put(directory, "f" + j, content(3 * j));
            }
            result.add(directory);
        }
        return result;
    }

    @Test
    void whoeverReadsAllOfADirectoryFindsTheNextOnesBeginningsThere() throws FsException {
        List<Long> directories = plantDirectories(10, 5);
        far.list(home, 1_000);
        int before = cluster.reads.get();
        for (long directory : directories) {
            assertThat(far.list(directory, 10)).hasSize(5);
            for (int j = 0; j < 5; j++) {
                assertThat(far.content(far.lookup(directory, "f" + j)))
                        .isEqualTo(bytes(content(3 * j)));
            }

            if (directory == directories.get(1)) {
                await().until(() -> askedAhead(far) == 4 + 9 * 5);
            }
        }
        assertThat(cluster.reads.get() - before).as("each once").isEqualTo(10 + 10 * 5);
        assertThat(blocks.gets.get()).isEqualTo(10 * 5);
    }

    @Test
    void whoeverReadsOneFileOfEachDirectoryGetsNoMoreOfTheNext() throws FsException {
        List<Long> directories = plantDirectories(10, 5);
        far.list(home, 1_000);
        for (long directory : directories) {
            far.list(directory, 10);
            far.content(far.lookup(directory, "f4"));
        }
        assertThat(askedAhead(far)).isZero();
    }

    @Test
    void inTheRegionItselfNothingIsAskedForAhead() throws FsException {
        TestClient neighbour = new TestClient(cluster, blocks, 1, TestClient.SLOW_FLUSH);
        try (neighbour) {
            neighbour.list(home, 1_000);
            for (int i = 0; i < FILES; i++) {
                readsRight(neighbour, i);
            }
            assertThat(askedAhead(neighbour)).isZero();
        }
    }

    @Test
    void whatChangesAfterItWasAskedForIsReadAnew() throws FsException {
        far.list(home, 1_000);
        readsRight(far, 0);
        await().until(() -> blocks.gets.get() == 3);
        for (int i = 1; i <= 8; i++) {
            near.put(home, "f" + i, "other content of " + i);
        }
        for (int i = 1; i <= 8; i++) {
            assertThat(far.content(files.get(i))).isEqualTo(bytes("other content of " + i));
        }
    }

    @Test
    void whoMayNotReadAFileDoesNotGetItThatWay() throws FsException {
        near.set(files.get(1), SetAttributes.MODE, 0600, FileSystem.NO_HANDLE);
        far.uid = 1000;
        far.list(home, 1_000);
        readsRight(far, 0);
        GlobalFileSystemTest.assertFails(Errno.EACCES, () -> far.content(files.get(1)));
        readsRight(far, 2);
    }

    @Test
    void whatFailsAheadIsReadAgainByWhoWantsIt() throws FsException {
        far.list(home, 1_000);
        blocks.failingGets.set(3);
        for (int i = 0; i < FILES; i++) {
            readsRight(far, i);
        }
    }
}
