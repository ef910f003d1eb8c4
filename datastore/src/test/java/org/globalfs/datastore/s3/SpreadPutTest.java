package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Blocks of all regions, in three buckets of which one takes requests and answers late or none. */
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
        silence("b3");
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

    /** That one and no other. */
    private void silence(String bucket) {
        link.delay(head -> {
            if (isPut(head, bucket)) {
                held.incrementAndGet();
                await(over);
            }
        });
    }

    private static boolean isPut(String head, String bucket) {
        return head.startsWith("PUT /care-" + bucket + "/");
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private BlockRef put(byte[] content) {
        return assertTimeoutPreemptively(MUCH_SOONER, () -> store.put(0, ByteBuffer.wrap(content)));
    }

    @Test
    void areWrittenWithoutIt() throws IOException {
        byte[] content = S3Cluster.bytes(60_000, 1);
        BlockRef ref = put(content);
        assertThat(ref.getDataChunks()).isEqualTo((byte) 1);
        store.put(0, ByteBuffer.wrap(content));
        assertThat(held.get()).as("the writes that follow do not try").isBetween(1, CHUNKS);
        assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
    }

    /** Else it would be done without for 30 s, and its chunks made later. */
    @Test
    void waitForOneThatHasTakenAPart() {
        CountDownLatch taken = new CountDownLatch(1);
        AtomicInteger first = new AtomicInteger();
        link.delay(head -> {
            if (!isPut(head, "b3")) {
                await(taken);
            } else if (first.getAndIncrement() > 0) {
                // Longer than one that has taken nothing is waited for.
                LockSupport.parkNanos(Duration.ofSeconds(5).toNanos());
            }
        });
        link.whenAnswered(head -> {
            if (isPut(head, "b3")) {
                taken.countDown();
            }
        });
        assertThat(put(S3Cluster.bytes(60_000, 2)).getDataChunks()).isEqualTo((byte) 6);
    }

    /** The one that was away may be back, and may not. */
    @Test
    void areWrittenWithoutAnotherThatFallsSilentThen() throws IOException {
        byte[] content = S3Cluster.bytes(60_000, 3);
        put(content);
        silence("b2");
        held.set(0);
        BlockRef ref = put(content);
        assertThat(ref.getDataChunks()).isEqualTo((byte) 1);
        assertThat(held).as("of the bucket that is silent now").hasPositiveValue();
        assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
    }
}
