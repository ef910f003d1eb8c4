package org.globalfs.datastore.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntToLongFunction;
import org.globalfs.datastore.cache.CacheNode;
import org.globalfs.datastore.cache.CacheOptions;
import org.globalfs.protocol.DiskReserve;
import org.globalfs.protocol.HostPort;
import org.globalfs.protocol.config.CachePolicyKind;
import org.globalfs.protocol.discovery.InMemoryDiscovery;
import org.globalfs.protocol.discovery.Member;
import org.globalfs.protocol.discovery.Role;
import org.globalfs.protocol.wire.BlockRef;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Blocks that the region's cache has whole, which answers late, while buckets do not answer at all.
 */
@Timeout(180)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SilentBucketsTest {
    private static final String CLUSTER = "test-cluster";
    private static final int GLOBAL = 0;
    private static final int OTHER = 2;

    /** Neither S3's client nor the read gives a bucket up while the test runs. */
    private static final S3BlockStore.Options PATIENT =
            new S3BlockStore.Options(600_000, 600_000, 1, 64);

    private static final Duration MUCH_SOONER = Duration.ofSeconds(60);

    /** Longer than caches are waited for before buckets are asked. */
    private static final long LATE_MS = 600;

    /** Longer than a late answer is waited for. */
    private static final long LOST_MS = 5_000;

    private final InMemoryDiscovery discovery = new InMemoryDiscovery();
    private final CountDownLatch over = new CountDownLatch(1);
    private S3Cluster s3;
    private S3BlockStore origin;
    private CacheNode cache;
    private FaultyLink silent;

    @BeforeAll
    void start(@TempDir Path folder) throws IOException {
        s3 = new S3Cluster(folder.resolve("buckets"));
        origin = s3.open(CLUSTER);
        cache = CacheNode.start(options(folder), discovery, origin);
        silent = new FaultyLink(s3.endpoint());
        silent.delay(head -> awaitEnd());
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
                folder.resolve("cache"),
                1L << 30,
                DiskReserve.exactly(0),
                CachePolicyKind.LRU,
                32,
                200,
                1L << 30);
    }

    private void awaitEnd() {
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @AfterAll
    void stop() throws IOException {
        over.countDown();
        silent.close();
        cache.close();
        origin.close();
        s3.close();
    }

    /** One that the cache has all of. */
    private BlockRef cached(int region, byte[] content) throws IOException {
        AtomicInteger reads = new AtomicInteger();
        try (FaultyLink counted = new FaultyLink(s3.endpoint());
                S3BlockStore store =
                        s3.openThroughCaches(CLUSTER, "region1", discovery, counted.endpoint())) {
            BlockRef ref = store.put(region, ByteBuffer.wrap(content));
            counted.delay(head -> reads.incrementAndGet());
            await().atMost(60, TimeUnit.SECONDS)
                    .until(() -> {
                        int before = reads.get();
                        assertThat(store.get(ref, 0, content.length).array()).isEqualTo(content);
                        return reads.get() == before;
                    });
            return ref;
        }
    }

    /** Returns how often the cache was asked. */
    private long readSoon(int region, IntToLongFunction holdMs) throws IOException {
        byte[] content = S3Cluster.bytes(300_001, 17);
        BlockRef ref = cached(region, content);
        InMemoryDiscovery late = new InMemoryDiscovery();
        try (CacheLink link = new CacheLink(cache.address(), holdMs);
                S3BlockStore store =
                        s3.openThroughCaches(
                                CLUSTER, "region1", late, silent.endpoint(), PATIENT)) {
            late.register(
                    new Member(Role.CACHE, "c1", "region1", 1, "a", link.address(), Map.of()));
            long before = cache.statistics().requests();
            assertTimeoutPreemptively(
                    MUCH_SOONER,
                    () ->
                            assertThat(store.get(ref, 5, 200_000).array())
                                    .isEqualTo(Arrays.copyOfRange(content, 5, 200_005)));
            return cache.statistics().requests() - before;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {GLOBAL, OTHER})
    void whatTheCacheHasIsNotWaitedForUntilTheDeadline(int region) throws IOException {
        readSoon(region, connection -> connection == 0 ? LOST_MS : LATE_MS);
    }

    @ParameterizedTest
    @ValueSource(ints = {GLOBAL, OTHER})
    void whatTheCacheAnswersLateIsTakenWhenItComes(int region) throws IOException {
        // One of all regions is asked for once more after two seconds.
        assertThat(readSoon(region, connection -> LATE_MS))
                .isBetween(1L, region == GLOBAL ? 2L : 1L);
    }

    /** What is asked next does not wait behind it. */
    @ParameterizedTest
    @ValueSource(ints = {GLOBAL, OTHER})
    void aConnectionThatHangsIsNotAskedAgain(int region) throws IOException {
        readSoon(region, connection -> connection == 0 ? CacheLink.FOREVER_MS : 0);
    }
}
