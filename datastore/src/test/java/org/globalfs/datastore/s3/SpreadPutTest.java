package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Blocks of all regions, in three buckets of which one takes requests and answers none. */
@Timeout(180)
class SpreadPutTest {
    private static final String CLUSTER = "test-cluster";
    private static final Duration MUCH_SOONER = Duration.ofSeconds(60);

    /** Neither S3's client nor the write gives a bucket up while the test runs. */
    private static final S3BlockStore.Options PATIENT =
            new S3BlockStore.Options(600_000, 600_000, 1, 64);

    /** Of a block, in each of three buckets. */
    private static final int CHUNKS = 3;

    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicInteger held = new AtomicInteger();
    private S3Cluster s3;
    private FaultyLink link;
    private S3BlockStore store;

    @BeforeEach
    void start(@TempDir Path folder) throws IOException {
        s3 = new S3Cluster(folder);
        link = new FaultyLink(s3.endpoint());
        link.delay(head -> {
            if (head.startsWith("PUT /care-b3/")) {
                held.incrementAndGet();
                awaitEnd();
            }
        });
        store =
                s3.openThroughCaches(
                        CLUSTER, "region1", new InMemoryDiscovery(), link.endpoint(), PATIENT);
    }

    @AfterEach
    void stop() throws IOException {
        over.countDown();
        store.close();
        link.close();
        s3.close();
    }

    private void awaitEnd() {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void areWrittenWithoutIt() throws IOException {
        byte[] content = S3Cluster.bytes(60_000, 1);
        BlockRef ref =
                assertTimeoutPreemptively(
                        MUCH_SOONER, () -> store.put(0, ByteBuffer.wrap(content)));
        assertThat(ref.getDataChunks()).isEqualTo((byte) 1);
        store.put(0, ByteBuffer.wrap(content));
        assertThat(held.get()).as("the writes that follow do not try").isBetween(1, CHUNKS);
        assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
    }
}
