package org.globalfs.client.vfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.globalfs.client.FakeBlockStore;
import org.globalfs.client.FakeCluster;
import org.globalfs.protocol.wire.BlockRef;
import org.globalfs.protocol.wire.FenceBlocksOp;
import org.globalfs.protocol.wire.UpdateOp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Blocks that are stored long before their commit: the partition may refuse to refer to them. */
class LateBlocksTest {
    private static final int REGION = 1;
    private static final long FENCE_MS = 1_000;

    /** More than a MiB may be in. */
    private static final int PIECES = 140;

    @TempDir Path folder;
    private final FakeBlockStore blocks = new FakeBlockStore();

    @Test
    void contentWhoseBlocksMayHaveBeenSweptIsStoredAgain() throws Exception {
        byte[] content = new byte[(9 << 20) + 77];
        new Random(4711).nextBytes(content);
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient here = client(cluster);
                TestClient there = client(cluster)) {
            long home = here.mkdir(FileSystem.ROOT, "home");
            TestClient.Open file = here.create(home, "file");
            here.write(file, 0, content);
            await().atMost(Duration.ofSeconds(30)).until(() -> blocks.puts.get() >= 2);
            fence(cluster, FENCE_MS);
            here.close(file);
            assertThat(blocks.idTime.get()).isEqualTo(FENCE_MS);
            TestClient.Open again = there.open(file.ino(), OpenFlags.O_RDONLY);
            assertThat(Arrays.equals(there.read(again, 0, content.length + 1), content)).isTrue();
            there.close(again);
            assertThat(cluster.state(REGION).doomed(10)).isEmpty();
            await().atMost(Duration.ofSeconds(30)).until(() -> blocks.count() == 3);
        }
    }

    @Test
    void blocksThatAFileHasAreNotAskedHowOldTheyAre() throws Exception {
        byte[] content = new byte[100_000];
        new Random(4712).nextBytes(content);
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient here = client(cluster)) {
            long home = here.mkdir(FileSystem.ROOT, "home");
            TestClient.Open file = here.create(home, "file");
            here.write(file, 0, content);
            here.flush(file);
            fence(cluster, FENCE_MS);
            here.write(file, 50_000, new byte[10]); // what is left refers to the old block twice
            here.close(file);
            System.arraycopy(new byte[10], 0, content, 50_000, 10);
            assertThat(here.content(file.ino())).isEqualTo(content);
        }
    }

    /** What was written so is in the metadata: no commit of it has told of the fence. */
    @Test
    void aFileInSmallPiecesIsPutTogetherThoughItsFirstBlockComesTooLate() throws Exception {
        try (FakeCluster cluster = new FakeCluster(folder, 1);
                TestClient here = client(cluster)) {
            long home = here.mkdir(FileSystem.ROOT, "home");
            fence(cluster, FENCE_MS);
            TestClient.Open file = here.create(home, "file");
            await().atMost(Duration.ofSeconds(60))
                    .until(() -> {
                        for (int i = 0; i < PIECES; i++) {
                            here.write(file, 2L * i, new byte[] {1});
                            here.flush(file);
                        }
                        return cluster.state(REGION).refersTo(lastBlock());
                    });
            here.close(file);
            byte[] content = new byte[2 * PIECES - 1];
            for (int i = 0; i < content.length; i += 2) {
                content[i] = 1;
            }
            assertThat(here.content(file.ino())).isEqualTo(content);
        }
    }

    /** The one that was stored last, when it is not older than the fence. */
    private BlockRef lastBlock() {
        int number = blocks.puts.get();
        return new BlockRef(FENCE_MS << 16, number, 0, REGION, (byte) 4, (byte) 2, 1);
    }

    /** A fence never goes back. */
    @Test
    void anEarlierFenceChangesNothing() throws Exception {
        try (FakeCluster cluster = new FakeCluster(folder, 1)) {
            fence(cluster, FENCE_MS);
            fence(cluster, 1);
            assertThat(cluster.state(REGION).blockFenceMs()).isEqualTo(FENCE_MS);
        }
    }

    private static void fence(FakeCluster cluster, long beforeMs) {
        cluster.internal(REGION, UpdateOp.fenceBlocks(new FenceBlocksOp(beforeMs)));
    }

    private TestClient client(FakeCluster cluster) {
        return new TestClient(cluster, blocks, REGION, TestClient.SLOW_FLUSH);
    }
}
