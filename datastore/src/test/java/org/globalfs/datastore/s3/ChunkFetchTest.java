package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.globalfs.datastore.client.Fetched;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Of blocks in three buckets, one of which takes requests and answers none for a while. */
@Timeout(180)
class ChunkFetchTest {
    private static final String CLUSTER = "test-cluster";
    private static final long ALL = (1L << 9) - 1;
    private static final int CALLERS = 4;

    private final CountDownLatch answers = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private S3Cluster s3;
    private FaultyLink link;
    private S3BlockStore store;

    @BeforeEach
    void start(@TempDir Path folder) throws IOException {
        s3 = new S3Cluster(folder);
        link = new FaultyLink(s3.endpoint());
        store =
                s3.openThroughCaches(
                        CLUSTER,
                        "region1",
                        new InMemoryDiscovery(),
                        link.endpoint(),
                        new S3BlockStore.Options(600_000, 600_000, 1, 64));
    }

    @AfterEach
    void stop() throws IOException {
        answers.countDown();
        threads.close();
        store.close();
        link.close();
        s3.close();
    }

    private void awaitAnswers() {
        try {
            answers.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aSilentBucketKeepsOneCallerWaiting() throws Exception {
        BlockRef ref = store.put(0, ByteBuffer.wrap(S3Cluster.bytes(60_000, 1)));
        assertThat(store.fetch(ref, ALL).unanswered()).isZero();
        link.delay(head -> {
            if (head.startsWith("GET /care-b3/")) {
                awaitAnswers();
            }
        });
        List<Future<Fetched>> all = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            all.add(threads.submit(() -> store.fetch(ref, ALL)));
        }
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> all.stream().filter(Future::isDone).count() == CALLERS - 1);
        for (Future<Fetched> each : all) {
            if (each.isDone()) {
                assertThat(each.get().chunks()).hasSize(6);
                assertThat(Long.bitCount(each.get().unanswered())).isEqualTo(3);
            }
        }
        assertThat(store.fetch(ref, ALL).chunks()).hasSize(6);
        assertThat(all.stream().filter(Future::isDone).count()).isEqualTo(CALLERS - 1);
        answers.countDown();
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> all.stream().filter(Future::isDone).count() == CALLERS);
        await().atMost(60, TimeUnit.SECONDS)
                .until(() -> store.fetch(ref, ALL).chunks().size() == 9);
    }
}
