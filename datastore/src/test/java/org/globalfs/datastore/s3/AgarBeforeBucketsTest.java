package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.globalfs.datastore.cache.CacheNode;
import org.globalfs.datastore.cache.CacheOptions;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The policy that caches have unless told otherwise, before three buckets of which one is near, one
 * is far and one farther still, for the cache as for the client.
 */
@Timeout(180)
class AgarBeforeBucketsTest {
    private static final String CLUSTER = "test-cluster";
    private static final int HOT = 2;
    private static final int BLOCKS = 8;
    private static final int BYTES = 300_000;

    /** Of the chunks, of which each block has nine, a dozen or so. */
    private static final long CAPACITY = 650_000;

    private static boolean reads(String head, int bucket) {
        return head.startsWith("GET /care-b" + bucket + "/");
    }

    private static void takeLong(String head) {
        int ms = reads(head, 3) ? 150 : reads(head, 2) ? 60 : 0;
        try {
            assertThat(new CountDownLatch(1).await(ms, TimeUnit.MILLISECONDS)).isFalse();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static FaultyLink link(S3Cluster s3, Consumer<String> each) throws IOException {
        FaultyLink link = new FaultyLink(s3.endpoint());
        link.delay(head -> {
            each.accept(head);
            takeLong(head);
        });
        return link;
    }

    private static CacheOptions options(Path folder) {
        return new CacheOptions(
                CLUSTER,
                "c1",
                "region1",
                1,
                "a",
                new HostPort("127.0.0.1", 0),
                "127.0.0.1",
                folder,
                CAPACITY,
                DiskReserve.exactly(0),
                CachePolicyKind.AGAR,
                1,
                500,
                1L << 30);
    }

    @Test
    void whatIsReadOftenComesFromFarBucketsNoMore(@TempDir Path folder) throws IOException {
        InMemoryDiscovery discovery = new InMemoryDiscovery();
        AtomicInteger far = new AtomicInteger();
        try (S3Cluster s3 = new S3Cluster(folder.resolve("buckets"));
                FaultyLink own = link(s3, head -> {});
                FaultyLink counted =
                        link(s3, head -> far.addAndGet(reads(head, 2) || reads(head, 3) ? 1 : 0));
                S3BlockStore origin =
                        s3.openThroughCaches(
                                CLUSTER, "region1", new InMemoryDiscovery(), own.endpoint());
                CacheNode cache =
                        CacheNode.start(options(folder.resolve("cache")), discovery, origin);
                S3BlockStore store =
                        s3.openThroughCaches(CLUSTER, "region1", discovery, counted.endpoint())) {
            List<BlockRef> blocks = new ArrayList<>();
            for (int i = 0; i < BLOCKS; i++) {
                blocks.add(store.put(0, ByteBuffer.wrap(S3Cluster.bytes(BYTES, i))));
            }
            await().atMost(120, TimeUnit.SECONDS)
                    .until(() -> {
                        for (int i = 0; i < BLOCKS; i++) {
                            for (int times = 0; times < (i < HOT ? 5 : 1); times++) {
                                read(store, blocks, i);
                            }
                        }
                        int before = far.get();
                        for (int i = 0; i < HOT; i++) {
                            read(store, blocks, i);
                        }
                        return far.get() == before && cache.statistics().planned() > 0;
                    });
            assertThat(cache.statistics().partHits()).isPositive();
            // A chunk is in the store a moment before another has to go.
            await().untilAsserted(() ->
                    assertThat(cache.statistics().usedBytes()).isBetween(1L, CAPACITY));
        }
    }

    private static void read(S3BlockStore store, List<BlockRef> blocks, int i) throws IOException {
        assertThat(store.get(blocks.get(i), 0, BYTES).array()).isEqualTo(S3Cluster.bytes(BYTES, i));
    }
}
